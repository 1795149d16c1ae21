package workbench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
	ledgerverify "github.com/candor-mcp/candor/ledger/verify"
)

// Invariant is a condition that must hold before a system serves calls.
type Invariant struct {
	ID    string // INV_STARTUP_…, stable
	About string // the condition, in one sentence
	Check func(ctx context.Context, b *Bench) error
}

// Finding is an invariant that does not hold.
type Finding struct {
	ID    string `json:"id"`
	About string `json:"about"`
	Found string `json:"found"`
}

// ownInvariants are those of every system.
var ownInvariants = []Invariant{
	{"INV_STARTUP_STATE_PRIVATE", "Other users cannot read or change the state folder.", statePrivate},
	{"INV_STARTUP_STATE_DURABLE", "Files can be written to and read from the state folder.", stateDurable},
	{"INV_STARTUP_LEDGER_VERIFIES", "The trail verifies.", ledgerVerifies},
	{"INV_STARTUP_KEY_PRIVATE", "Other users cannot read the key that signs the trail.", keyPrivate},
}

// audit checks every invariant.
func (b *Bench) audit(ctx context.Context) []Finding {
	var found []Finding
	for _, inv := range slices.Concat(ownInvariants, b.system.Invariants) {
		if err := inv.Check(ctx, b); err != nil {
			found = append(found, Finding{inv.ID, inv.About, candor.Public(b.withoutFolders(err.Error()), 512)})
			b.log.Error("self-audit: invariant does not hold", slog.String("invariant", inv.ID), slog.Any("error", err))
		}
	}
	return found
}

// withoutFolders shortens the paths of the server's files in a text for clients. [candor.Public] alone would show part
// of a path that contains a space.
func (b *Bench) withoutFolders(text string) string {
	names := []string{b.trail.dir, b.trail.o.WitnessCopy, b.state.Dir()}
	slices.SortFunc(names, func(x, y string) int { return len(y) - len(x) }) // one may be inside another
	for _, name := range names {
		if filepath.IsAbs(name) {
			text = strings.ReplaceAll(text, name, "…/"+filepath.Base(name))
		}
	}
	return text
}

// auditRefusal is the error of every call while an invariant does not hold.
func auditRefusal(found []Finding) *candor.Error {
	first := found[0]
	return candor.New(kaiza.SelfAuditFailure, "The server failed its self-audit and refuses all calls: "+first.ID+".",
		candor.WithCallInfo(candor.CallInfo{InvariantID: first.ID}), candor.WithOrigin(candor.PartyServer, false), candor.WithDetails(map[string]any{"findings": found}))
}

func statePrivate(_ context.Context, b *Bench) error {
	return private(b.state.Dir())
}

// private returns an error if other users can access a file or folder.
func private(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if open := info.Mode().Perm() & 0o077; open != 0 {
		return fmt.Errorf("%s: mode %04o lets other users in (hint: chmod go-rwx)", filepath.Base(name), info.Mode().Perm())
	}
	return nil
}

func stateDurable(_ context.Context, b *Bench) error {
	name := "self-audit-" + newID() + ".json"
	if err := b.state.Save(name, name); err != nil {
		return err
	}
	var back string
	_, err := b.state.Load(name, &back)
	if err == nil && back != name {
		err = errors.New("read back different content")
	}
	return errors.Join(err, b.state.Remove(name))
}

func ledgerVerifies(ctx context.Context, b *Bench) error {
	if b.trail.dir == "" {
		return nil
	}
	if _, err := b.trail.ledger(); err != nil {
		return nil //nolint:nilerr // each call fails with its code
	}
	report, err := ledgerverify.Dir(ctx, b.trail.dir, ledgerverify.Options{OwnWitnessCopies: b.trail.witnessCopies()})
	if err != nil {
		return err
	}
	if report.OK {
		return nil
	}
	return trailFault(report.Damage)
}

// trailFault returns an error with the first defect and a hint. It is short, so that the hint is not cut off.
func trailFault(harms []ledgerverify.Damage) error {
	first, more, advice := harms[0], "", "keep the folder as evidence and begin another with --ledger"
	if n := len(harms) - 1; n > 0 {
		more = fmt.Sprintf("; and %d more", n)
	}
	missing := func(h ledgerverify.Damage) bool { return h.Kind == "missing-chain" && h.File != "" }
	if missing(first) && !slices.ContainsFunc(harms, func(h ledgerverify.Damage) bool { return !missing(h) }) {
		advice = "restore the folder from a copy; if it was removed on purpose, move that file away"
	}
	return fmt.Errorf("%s%s (hint: %s)", first, more, advice)
}

// keyPrivate checks the mode of the ledger's signing keys.
func keyPrivate(_ context.Context, b *Bench) error {
	if b.trail.dir == "" {
		return nil
	}
	keys, err := filepath.Glob(filepath.Join(b.trail.dir, "keys", "*.key"))
	for _, name := range keys {
		err = errors.Join(err, private(name))
	}
	return err
}
