package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/candor-mcp/candor/ledger"
)

// demoLedger records the failures in a folder of its own, verifies it, changes one word and verifies it again. The folder is removed.
func demoLedger(w *world, p paint, cases []demoCase) (err error) {
	dir, err := os.MkdirTemp("", "candor-demo-")
	if err != nil {
		return fmt.Errorf("making a folder for the demo: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := demoRecord(dir, cases); err != nil {
		return err
	}
	fmt.Fprintf(w.out, "\n%s\n", p.bold("On the record before it is sent, and nobody changes that unseen:"))
	if err := demoVerify(w, p, dir, "as written"); err != nil {
		return err
	}
	if err := demoTamper(dir); err != nil {
		return err
	}
	return demoVerify(w, p, dir, "one word changed")
}

// demoRecord appends every failure; each is durable when Append returns.
func demoRecord(dir string, cases []demoCase) (err error) {
	l, err := ledger.Open(dir, ledger.Options{Instance: "demo"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	for _, c := range cases {
		_, r, err := demoRead(c)
		if err != nil {
			return err
		}
		if _, err := l.Append(context.Background(), ledger.EntryOf(r.Error)); err != nil {
			return err
		}
	}
	return nil
}

func demoVerify(w *world, p paint, dir, state string) error {
	report, err := ledger.Verify(dir, ledger.VerifyOptions{})
	if err != nil {
		return err
	}
	outcome := p.good(fmt.Sprintf("fine: %d entries, signed", report.Entries))
	if !report.OK && len(report.Harms) > 0 {
		h := report.Harms[0]
		outcome = p.bad(fmt.Sprintf("harm at entry %d, %s:", h.Seq, h.Kind)) + " " + h.Text
	}
	fmt.Fprintf(w.out, "  %s %s\n", p.name(pad(state, 17)), outcome)
	return nil
}

// demoTamper makes another code of one in the middle, as somebody would who has something to hide.
func demoTamper(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*", "audit-log.jsonl"))
	if err != nil || len(files) != 1 {
		return fmt.Errorf("finding the demo's ledger: %d files, %w", len(files), err)
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		return err
	}
	changed := bytes.Replace(raw, []byte("PLAN_NOT_APPROVED"), []byte("PLAN_WAS_APPROVED"), 1)
	return os.WriteFile(files[0], changed, 0o600)
}
