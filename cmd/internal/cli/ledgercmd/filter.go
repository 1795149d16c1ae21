package ledgercmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/ledger"
)

// entryFilter has the flags that select entries.
type entryFilter struct {
	kinds, codes, tools, servers []string
}

func (f *entryFilter) register(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.kinds, "kind", nil, "only entries of these kinds, such as failure")
	cmd.Flags().StringSliceVar(&f.codes, "code", nil, "only entries with these codes")
	cmd.Flags().StringSliceVar(&f.tools, "tool", nil, "only entries of these tools")
	cmd.Flags().StringSliceVar(&f.servers, "server", nil, "only entries of these servers")
	term.CompleteFlag(cmd, "kind", kindNames())
}

// check refuses unknown kinds. Codes, tools and servers are not checked: a ledger may be older or newer than the catalogue.
func (f *entryFilter) check() error {
	for _, kind := range f.kinds {
		if !ledger.Kind(kind).Valid() {
			return term.Unknown("--kind", kind, kindNames())
		}
	}
	return nil
}

// keep returns the filter for the entries of a ledger, or nil if it accepts everything.
func (f *entryFilter) keep(ctx context.Context, r *ledger.Reader) (func(*ledger.Line) bool, error) {
	if len(f.kinds)+len(f.codes)+len(f.tools)+len(f.servers) == 0 {
		return nil, nil //nolint:nilnil // no filter
	}
	ofServer, err := f.ofServer(ctx, r)
	if err != nil {
		return nil, err
	}
	return func(l *ledger.Line) bool {
		if len(f.kinds) > 0 && !term.ContainsFold(f.kinds, string(l.Kind)) {
			return false
		}
		if len(f.servers) > 0 && !ofServer(l) {
			return false
		}
		if len(f.codes)+len(f.tools) == 0 {
			return true
		}
		r, err := l.Record()
		return err == nil && (len(f.codes) == 0 || term.ContainsFold(f.codes, r.Code) || term.ContainsFold(f.codes, r.Domain+"/"+r.Code)) &&
			(len(f.tools) == 0 || term.ContainsFold(f.tools, r.Tool))
	}, nil
}

// ofServer returns a function that reports whether an entry is about one of the servers of --server. A chain of candor
// wrap is about one server, which may have the name of its package in entries before initialize: if one entry has a
// name of --server, all entries of the chain are accepted. The chains are read first, because an earlier entry may
// have the other name.
func (f *entryFilter) ofServer(ctx context.Context, r *ledger.Reader) (func(*ledger.Line) bool, error) {
	if len(f.servers) == 0 {
		return nil, nil //nolint:nilnil // not used
	}
	named := func(l *ledger.Line) bool { return !isInternal(l.Kind) && term.ContainsFold(f.servers, l.Server()) }
	same := map[string]bool{} // chains of candor wrap with such an entry
	chains, err := r.Chains()
	if err != nil {
		return nil, cannotRead(err)
	}
	for _, chain := range chains {
		if !strings.HasPrefix(chain, wrapPrefix) {
			continue
		}
		for _, err := range r.Entries(ctx, ledger.ReadOptions{Chain: chain, Keep: named}) {
			if err != nil {
				return nil, cannotRead(err)
			}
			same[chain] = true
			break
		}
	}
	return func(l *ledger.Line) bool {
		if l.Kind == ledger.KindFailure || l.Kind == ledger.KindAttempt {
			chain := l.Chain()
			if same[chain] {
				return true
			}
			if named(l) && strings.HasPrefix(chain, wrapPrefix) {
				same[chain] = true // with --follow: the chain may be new
			}
		}
		return named(l)
	}, nil
}

// wrapPrefix begins the names of the chains that candor wrap writes.
const wrapPrefix = "wrap-"

// isInternal reports whether entries of a kind are about the ledger itself and not about a call.
func isInternal(k ledger.Kind) bool { return k == ledger.KindSetting || k == ledger.KindCheckpoint }

func kindNames() []string {
	return []string{"failure", "success", "enter", "exit", "reserve", "complete", "attempt", "checkpoint", "recovered", "setting"}
}
