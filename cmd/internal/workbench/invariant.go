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

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/dialect"
	ledgerverify "github.com/candor-mcp/candor/ledger/verify"
	"github.com/candor-mcp/candor/wire"
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

// Invariants returns the invariants of a system: those of the workbench, then those of the system.
func Invariants(s *System) []Invariant {
	return slices.Concat(ownInvariants, s.Invariants)
}

var ownInvariants = []Invariant{
	{"INV_STARTUP_CATALOGUE_COMPLETE", "Every code that a tool can raise is registered, active and raised in the system's own domain.", catalogueComplete},
	{"INV_STARTUP_CODES_DECLARED", "Every tool says which codes it can raise.", codesDeclared},
	{"INV_STARTUP_TOOLS_DISTINCT", "Every tool has a unique name and a handler.", toolsDistinct},
	{"INV_STARTUP_HANDLERS_WRAPPED", "The listed tools are exactly those registered through the workbench.", handlersWrapped},
	{"INV_STARTUP_DIALECT_WRITES", "The dialect can read the failures it writes.", dialectWrites},
	{"INV_STARTUP_STATE_PRIVATE", "Other users cannot read or change the state folder.", statePrivate},
	{"INV_STARTUP_STATE_DURABLE", "Files can be written to and read from the state folder.", stateDurable},
	{"INV_STARTUP_LEDGER_VERIFIES", "The trail verifies.", ledgerVerifies},
	{"INV_STARTUP_KEY_PRIVATE", "Other users cannot read the key that signs the trail.", keyPrivate},
}

// audit checks every invariant.
func (b *Bench) audit(ctx context.Context) []Finding {
	var found []Finding
	for _, inv := range Invariants(&b.system) {
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
		candor.WithInvariant(first.ID), candor.WithOrigin(candor.PartyServer, false), candor.WithDetails(map[string]any{"findings": found}))
}

func catalogueComplete(_ context.Context, b *Bench) error {
	for i := range b.system.Tools {
		for _, c := range b.system.Tools[i].Codes {
			if !c.Valid() || c.Status() != candor.StatusActive {
				return fmt.Errorf("tool %s: code %q is not active", b.system.Tools[i].Name, c)
			}
		}
	}
	if b.system.Domain == "" {
		return nil
	}
	for c := range candor.Codes() {
		if c.Domain() == b.system.Domain && c.Status() != candor.StatusActive {
			return fmt.Errorf("code %s: registered but not active", c)
		}
	}
	return nil
}

func codesDeclared(_ context.Context, b *Bench) error {
	for i := range b.system.Tools {
		if len(b.system.Tools[i].Codes) == 0 {
			return fmt.Errorf("tool %s: no codes declared", b.system.Tools[i].Name)
		}
	}
	return nil
}

func toolsDistinct(_ context.Context, b *Bench) error {
	seen := map[string]bool{}
	for i := range b.system.Tools {
		t := &b.system.Tools[i]
		if seen[t.Name] || t.Name == "" || t.Run == nil {
			return fmt.Errorf("tool %q: listed twice, or without a name or handler", t.Name)
		}
		seen[t.Name] = true
	}
	if len(seen) == 0 {
		return errors.New("no tools")
	}
	return nil
}

// handlersWrapped lists the tools as a client does and compares them with the registered ones.
func handlersWrapped(ctx context.Context, b *Bench) error {
	here, there := mcp.NewInMemoryTransports()
	serving, err := b.server.Connect(ctx, there, nil)
	if err != nil {
		return err
	}
	defer serving.Close() //nolint:errcheck // best effort
	client, err := mcp.NewClient(&mcp.Implementation{Name: "self-audit"}, nil).Connect(ctx, here, nil)
	if err != nil {
		return err
	}
	defer client.Close() //nolint:errcheck // best effort
	count := 0
	for t, err := range client.Tools(ctx, nil) {
		if err != nil {
			return err
		}
		if b.wrapped[t.Name] == nil || t.Meta[boundary.CodesKey] == nil {
			return fmt.Errorf("tool %s: not registered through the workbench", t.Name)
		}
		count++
	}
	if count != len(b.system.Tools) {
		return fmt.Errorf("%d tools listed, want %d", count, len(b.system.Tools))
	}
	return nil
}

func dialectWrites(_ context.Context, b *Bench) error {
	e := candor.New(candor.CodeInternalError, "", candor.WithRef("self-audit"))
	written := b.dialect.Encode(nil, e, dialect.Options{})
	v, err := wire.ParseValue(written, wire.Limits{})
	if err != nil {
		return err
	}
	back, err := b.dialect.Read(v)
	if err != nil {
		return err
	}
	if back.Code().Symbol() != e.Code().Symbol() {
		return fmt.Errorf("wrote %s, read %s", e.Code(), back.Code())
	}
	return nil
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
	return trailFault(b.trail.dir, report.Damage)
}

// trailFault returns an error with the first defect and a hint. It is short, so that the hint is not cut off.
func trailFault(dir string, harms []ledgerverify.Damage) error {
	first, more, advice := harms[0], "", "keep the folder as evidence and begin another with --ledger"
	if n := len(harms) - 1; n > 0 {
		more = fmt.Sprintf("; and %d more", n)
	}
	gone := func(h ledgerverify.Damage) bool { return h.Kind == ledgerverify.KindMissingChain && h.File != "" }
	if gone(first) && !slices.ContainsFunc(harms, func(h ledgerverify.Damage) bool { return !gone(h) }) {
		advice = "restore the folder from a copy; if it was removed on purpose: candor ledger forget " + dir
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
