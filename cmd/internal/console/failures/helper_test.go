package failures_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/console/failures"
	"github.com/candor-mcp/candor/ledger"
)

// openLedger opens a ledger for writing, and closes it when the test ends.
func openLedger(t testing.TB, dir string, options ledger.Options) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(dir, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// open returns a store that has read the whole ledger and follows it.
func open(t testing.TB, dir string, options failures.Options) *failures.Store {
	t.Helper()
	s, err := failures.Open(dir, options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := s.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		cancel()
		running.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	select {
	case <-s.Ready():
	case <-time.After(10 * time.Minute):
		t.Fatal("the store was not ready after ten minutes")
	}
	return s
}

var (
	sampleCodes = []candor.Code{candor.CodeTimeout, candor.CodeNotFound, candor.CodeRateLimited, candor.CodeUpstreamGone, candor.CodeInternalError}
	sampleTools = []string{"read_file", "write_file", "search", "fetch", "", "Ünïcode \"tool\"", "none"}
	samples     = []string{"the file is not there", "connection refused", "quota of <b>5</b> exceeded", "Zeit überschritten"}
)

// pick returns a random element.
func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// randomEntry returns an entry of a random kind, mostly a failure.
func randomEntry(r *rand.Rand) ledger.Entry {
	if r.IntN(5) == 0 {
		return ledger.Entry{Kind: pick(r, []ledger.Kind{ledger.KindSuccess, ledger.KindAttempt, ledger.KindEnter}), Tool: pick(r, sampleTools)}
	}
	message := fmt.Sprintf("%s (%d)", pick(r, samples), r.IntN(100))
	err := candor.New(pick(r, sampleCodes), message, candor.WithTool(pick(r, sampleTools)), candor.WithOrigin(pick(r, []candor.Party{candor.PartyTool, candor.PartyServer}), r.IntN(2) == 0))
	f := candor.Failure{Error: err, Method: "tools/call", Verdict: pick(r, []string{"tool", "masked", "protocol", "lost"}), Latency: time.Duration(r.IntN(1e9)), Attempt: r.IntN(3)}
	switch r.IntN(4) {
	case 0:
		f.Received = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":%q}],"isError":true}}`, r.IntN(1000), "upstream: "+message)
	case 1:
		f.Received = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"error":{"code":-32000,"message":%q}}`, r.IntN(1000), "rpc: "+message)
	case 2:
		f.Sent = err.AppendJSON(nil, candor.JSONOptions{})
	}
	f.Suspected = r.IntN(6) == 0
	if r.IntN(3) > 0 {
		f.Upstream = pick(r, []string{"files", "web", "db-1"})
	}
	e := ledger.FailureEntry(f)
	if r.IntN(2) == 0 {
		e.SessionID = fmt.Sprintf("s-%d", r.IntN(20))
	}
	return e
}

// appendRandom appends n random entries.
func appendRandom(t testing.TB, l *ledger.Ledger, r *rand.Rand, n int) {
	t.Helper()
	var all sync.WaitGroup
	for range n {
		e := randomEntry(r)
		all.Go(func() {
			if _, err := l.Append(context.Background(), e); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
