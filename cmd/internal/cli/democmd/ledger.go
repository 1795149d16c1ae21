package democmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	ledgerverify "github.com/candor-mcp/candor/ledger/verify"
	"github.com/candor-mcp/candor/meter"
)

// demoProof verifies the ledger, flips a bit in it and verifies it again.
func demoProof(env *term.Env, p term.Colors, dir string, counts *meter.Meter) error {
	fmt.Fprintf(env.Out, "%s\n", p.Bold(fmt.Sprintf("%d Every failure was recorded before it was sent, and a change to the record is found", len(demoScenes)+1)))
	stats := counts.Stats()
	fmt.Fprintf(env.Out, "  %s %s\n", p.Name(term.Pad("counted", 17)), fmt.Sprintf("%d failures, %d codes", stats.Total, len(stats.BySymbol)))
	if err := demoVerify(env, p, dir, "as written", stats.Total); err != nil {
		return err
	}
	if err := demoTamper(dir); err != nil {
		return err
	}
	if err := demoVerify(env, p, dir, "one byte flipped", stats.Total); err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "\n%s candor wrap -- YOUR SERVER, in place of your server in the agent's configuration\n", p.Bold("Now yours:"))
	return nil
}

func demoVerify(env *term.Env, p term.Colors, dir, state string, failures uint64) error {
	report, err := ledgerverify.Dir(context.Background(), dir, ledgerverify.Options{})
	if err != nil {
		return err
	}
	outcome := p.Good(fmt.Sprintf("OK: %d failures, signed", failures))
	if !report.OK && len(report.Damage) > 0 {
		h := report.Damage[0]
		outcome = p.Bad(fmt.Sprintf("FAILED, %s:", h.Kind)) + " " + h.Text
	}
	fmt.Fprintf(env.Out, "  %s %s\n", p.Name(term.Pad(state, 17)), outcome)
	return nil
}

// demoTamper flips one bit of a code.
func demoTamper(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*", "audit-log.jsonl"))
	if err != nil || len(files) != 1 {
		return fmt.Errorf("finding the demo's ledger: %d files, %w", len(files), err)
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		return err
	}
	at := bytes.Index(raw, []byte("UPSTREAM_GONE"))
	if at < 0 {
		return errors.New("an entry is missing in the ledger of the demo")
	}
	raw[at] ^= 1
	return os.WriteFile(files[0], raw, 0o600)
}
