package ship

import (
	"context"
	"iter"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/memstore"
	"github.com/candor-mcp/candor/cmd/internal/fleet/storetest"
)

// slow is a store that needs a second for each line, and sends none after some of them.
type slow struct {
	fleet.Store
	lines int
	mute  bool // does not report the end of its context
}

func (s slow) Lines(ctx context.Context, chain fleet.Chain, after uint64) iter.Seq2[fleet.Stored, error] {
	return func(yield func(fleet.Stored, error) bool) {
		n := 0
		for line, err := range s.Store.Lines(ctx, chain, after) {
			wait := time.After(time.Second)
			if n++; n > s.lines {
				wait = nil
			}
			select {
			case <-wait:
			case <-ctx.Done():
				if !s.mute {
					yield(fleet.Stored{}, ctx.Err())
				}
				return
			}
			if !yield(line, err) {
				return
			}
		}
	}
}

// TestALongChainIsRestored restores lines for longer than a store may be silent.
func TestALongChainIsRestored(t *testing.T) {
	t.Parallel()
	const length = 300
	for name, test := range map[string]struct {
		sent int
		mute bool
		err  string
	}{
		"slow":   {length, false, ""},
		"silent": {200, false, "the store sent nothing for 30s"},
		"mute":   {200, true, "the store sent nothing for 30s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				at, err := fleet.ParseLocation("nats://store?node=n")
				if err != nil {
					t.Fatal(err)
				}
				store, id := memstore.New(), fleet.Chain{Node: "n", Name: probe}
				if err := store.Append(t.Context(), id, fleet.Head{}, storetest.MakeLines(id, fleet.Head{}, length, 10)); err != nil {
					t.Fatal(err)
				}
				s := &Shipper{config: Config{At: at, Log: slog.New(slog.DiscardHandler)}, ctx: t.Context(), store: slow{store, test.sent, test.mute}}
				got, failed := 0, ""
				for _, err := range s.missing(probe, 100) {
					if err != nil {
						failed = err.Error()
						break
					}
					got++
				}
				if got != test.sent-100 || !strings.Contains(failed, test.err) || (failed == "") != (test.err == "") {
					t.Errorf("%d lines were restored, then %q", got, failed)
				}
			})
		})
	}
}
