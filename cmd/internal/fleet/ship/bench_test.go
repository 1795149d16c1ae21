package ship

import (
	"context"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/ledger"
)

// quick is a store in this process that keeps only the head of each chain.
type quick struct {
	*faulty
	mu    sync.Mutex
	heads map[fleet.Chain]fleet.Head
}

func (q *quick) Append(_ context.Context, chain fleet.Chain, after fleet.Head, lines [][]byte) error {
	last, err := ledger.ParseLine(lines[len(lines)-1])
	if err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.heads[chain] != after {
		return &fleet.ConflictError{Chain: chain, Head: q.heads[chain]}
	}
	q.heads[chain] = fleet.Head{Seq: last.Seq, Hash: last.Hash}
	return nil
}

func (q *quick) Head(_ context.Context, chain fleet.Chain) (fleet.Head, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.heads[chain], nil
}

// BenchmarkShippingCost compares appends to a ledger that is shipped in mode local with appends to one that is not. Short rounds of both
// alternate, so that what else the machine does affects both. The metric cost-% is how much longer the median round takes with shipping.
func BenchmarkShippingCost(b *testing.B) {
	for _, callers := range []int{1, 16} {
		b.Run(map[int]string{1: "callers=1", 16: "callers=16"}[callers], func(b *testing.B) { benchCost(b, callers) })
	}
}

func benchCost(b *testing.B, callers int) {
	plain, err := ledger.Open(b.TempDir(), ledger.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer plain.Close() //nolint:errcheck // a benchmark
	c := configOf(b.TempDir(), nil, "", io.Discard)
	c.poll = 0
	c.Open = func(context.Context) (fleet.Store, error) {
		return &quick{faulty: newStore(), heads: map[fleet.Chain]fleet.Head{}}, nil
	}
	r := startWith(b, c.withDefaults(), nil, &logged{}, ledger.Options{})
	const round = 200
	ledgers := []*ledger.Ledger{plain, r.ledger}
	var times [2][]time.Duration
	b.ResetTimer()
	for done := 0; done < b.N || len(times[1]) < 5; done += round {
		for i := range ledgers {
			i = (i + done/round) % len(ledgers) // each comes first in every second pair, because the first of a pair finds the disk in another state
			times[i] = append(times[i], appendRound(b, ledgers[i], callers, round))
		}
	}
	b.StopTimer()
	for i := range times {
		slices.Sort(times[i])
	}
	with, without := times[1][len(times[1])/2], times[0][len(times[0])/2]
	b.ReportMetric(100*(with.Seconds()/without.Seconds()-1), "cost-%")
	b.ReportMetric(round/with.Seconds(), "entries/s")
	r.close()
}

// appendRound appends n failures with their texts from several callers.
func appendRound(b *testing.B, l *ledger.Ledger, callers, n int) time.Duration {
	b.Helper()
	entry := ledger.EntryOf(candor.New(candor.CodeResourceNotFound, "the file is not there", candor.WithTool("read_file")))
	entry.Args, entry.Envelope = []byte(`{"path":"docs/missing.txt"}`), []byte(`{"isError":true,"content":[{"type":"text","text":"ENOENT: no such file or directory"}]}`)
	start := time.Now()
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for range n / callers {
				if _, err := l.Append(context.Background(), entry); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	return time.Since(start)
}
