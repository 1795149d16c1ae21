package ledgercmd

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/ledger"
	ledgerverify "github.com/candor-mcp/candor/ledger/verify"
)

// Filter has the flags that select entries, for the commands of another package.
type Filter struct{ entryFilter }

// Register adds the flags.
func (f *Filter) Register(cmd *cobra.Command) { f.register(cmd) }

// Check refuses unknown kinds.
func (f *Filter) Check() error { return f.check() }

// Keep returns the filter for the entries of a ledger, or nil if it accepts everything.
func (f *Filter) Keep(ctx context.Context, r *ledger.Reader) (func(*ledger.Line) bool, error) {
	return f.keep(ctx, r)
}

// ShowsInternal reports whether --kind names the kinds to show, so that entries about the ledger itself are not left out.
func (f *Filter) ShowsInternal() bool { return len(f.kinds) > 0 }

// IsInternal reports whether entries of a kind are about the ledger itself and not about a call.
func IsInternal(k ledger.Kind) bool { return isInternal(k) }

// EntryWords describes an entry in one line.
func EntryWords(r *ledger.Record, p term.Colors) string { return entryWords(r, p) }

// Since returns the time that is a duration before now, or the zero time for "".
func Since(env *term.Env, text string) (time.Time, error) {
	c := &ledgerCommand{env: env}
	return c.since(text)
}

// Bar draws n relative to most, for a chart.
func Bar(n, most uint64) string { return bar(n, most) }

// LocalHour returns the UTC hour of a bucket in local time.
func LocalHour(name string) string { return localHour(name) }

// SizeWords returns a number of bytes with a unit.
func SizeWords(n int64) string { return sizeWords(n) }

// ReadKeys reads a file of public keys, one per line.
func ReadKeys(name string) ([]string, error) { return readKeys(name) }

// StoreCheck has the flags of `candor ledger verify` for a store of many nodes.
type StoreCheck struct {
	URL         string
	Checkpoints []string
	Keys        string // file
	JSON        bool
}

// VerifyStore verifies a store of many nodes. A package above this one has it, because it uses this one.
type VerifyStore func(cmd *cobra.Command, check StoreCheck) error

// Location describes where damage was found.
func Location(h ledgerverify.Damage) string { return location(h) }
