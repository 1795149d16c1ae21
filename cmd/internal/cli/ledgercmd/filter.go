package ledgercmd

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/ledger"
)

// entryFilter has the flags that select entries.
type entryFilter struct {
	kinds, codes, tools, servers, nodes []string
	since                               string
}

func (f *entryFilter) register(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.kinds, "kind", nil, "only entries of these kinds, such as failure")
	cmd.Flags().StringSliceVar(&f.codes, "code", nil, "only entries with these codes")
	cmd.Flags().StringSliceVar(&f.tools, "tool", nil, "only entries of these tools")
	cmd.Flags().StringSliceVar(&f.servers, "server", nil, "only entries of these servers")
	cmd.Flags().StringSliceVar(&f.nodes, "node", nil, "only entries of these nodes of a store")
	term.CompleteFlag(cmd, "kind", kindNames())
}

func (f *entryFilter) registerSince(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.since, "since", "", "only entries not older than this, such as 15m, 24h or 7d")
}

// sinceTime returns the time of --since, or the zero time.
func (f *entryFilter) sinceTime(env *term.Env) (time.Time, error) {
	if f.since == "" {
		return time.Time{}, nil
	}
	d, err := term.ParseAge(f.since)
	if err != nil {
		return time.Time{}, term.BadInput("a duration such as 15m, 24h or 7d", "--since %q: not a duration", f.since)
	}
	return env.Now().Add(-d), nil
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
func (f *entryFilter) keep() func(*ledger.Line) bool {
	if len(f.kinds)+len(f.codes)+len(f.tools)+len(f.servers) == 0 {
		return nil
	}
	return func(l *ledger.Line) bool {
		if len(f.kinds) > 0 && !term.ContainsFold(f.kinds, string(l.Kind)) {
			return false
		}
		if len(f.servers) > 0 && (isInternal(l.Kind) || !term.ContainsFold(f.servers, l.Server())) {
			return false
		}
		if len(f.codes)+len(f.tools) == 0 {
			return true
		}
		r, err := l.Record()
		return err == nil && (len(f.codes) == 0 || term.ContainsFold(f.codes, r.Code) || term.ContainsFold(f.codes, r.Domain+"/"+r.Code)) &&
			(len(f.tools) == 0 || term.ContainsFold(f.tools, r.Tool))
	}
}

// isInternal reports whether entries of a kind are about the ledger itself and not about a call.
func isInternal(k ledger.Kind) bool { return k == ledger.KindSetting || k == ledger.KindCheckpoint }

func kindNames() []string {
	return []string{"failure", "success", "enter", "exit", "reserve", "complete", "attempt", "checkpoint", "recovered", "setting"}
}
