package console_test

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/console"
	"github.com/candor-mcp/candor/cmd/internal/console/failures"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/stdio"
	"github.com/candor-mcp/candor/cmd/internal/testing/load"
	"github.com/candor-mcp/candor/ledger"
)

const (
	benchCallers  = 64 // that succeed, as fast as they can
	benchFailing  = 64 // that fail, together benchFailures a second
	benchFailures = 1000
	benchConsoles = 10
	benchWindow   = time.Second // of one contestant in one round
)

// BenchmarkConsoles compares the throughput of a gateway through which 1,000 failures a second go, without a console and
// with ten consoles open, alternately. The result is the ratio of the medians, x-alone. The consoles are read in the same
// process, so their readers count too.
func BenchmarkConsoles(b *testing.B) {
	alone, _ := benchGateway(b)
	watched, dir := benchGateway(b)
	events := openConsoles(b, dir)
	failed := atomic.Int64{}
	r := load.Race{Measure: func(c load.Callers) (float64, int64, error) {
		end := failSteadily(b, c, &failed)
		defer end()
		return load.Rate(benchCallers, load.Echo, benchWindow)(c)
	}}
	without, with := &load.Contestant{Name: "alone", Callers: alone}, &load.Contestant{Name: "consoles", Callers: watched}
	r.Enter(without)
	r.Enter(with)
	if err := r.Round(); err != nil {
		b.Fatal(err)
	}
	r.Forget()
	failed.Store(0)
	events.Store(0)
	began := time.Now()
	for b.Loop() {
		if err := r.Round(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(0, "ns/op") // the time of a round is meaningless
	b.ReportMetric(without.Figure(), "alone/s")
	b.ReportMetric(with.Figure(), "consoles/s")
	b.ReportMetric(with.Figure()/without.Figure(), "x-alone")
	b.ReportMetric(without.CPU()/with.CPU(), "x-cpu") // the ratio if CPU time were the only limit
	b.ReportMetric(float64(failed.Load())/time.Since(began).Seconds(), "failures/s")
	b.ReportMetric(float64(events.Load())/benchConsoles/float64(b.N), "events/round")
}

// benchGateway starts a gateway with a ledger in this process, in front of the server of package load.
func benchGateway(b *testing.B) (load.Callers, string) {
	b.Helper()
	dir := b.TempDir()
	l, err := ledger.Open(dir, ledger.Options{})
	if err != nil {
		b.Fatal(err)
	}
	asked, ask, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	heard, say, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		o := gateway.Options{Ledger: l, Repeats: gateway.RepeatPolicy{Off: true}} // otherwise most failures would never reach the server
		_, err := stdio.Wrap(context.Background(), gateway.New(o), stdio.Streams{In: asked, Out: say},
			stdio.Child{Command: os.Args[0], Env: append(os.Environ(), load.Env+"="+load.Plain)})
		_ = say.Close()
		ended <- err
	}()
	p, err := load.NewPipe(heard, ask, benchCallers+benchFailing)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = p.Close()
		if err := <-ended; err != nil {
			b.Error(err)
		}
		_ = asked.Close()
		_ = heard.Close()
		if err := l.Close(); err != nil {
			b.Error(err)
		}
	})
	return p, dir
}

// failSteadily makes failing calls until end is called.
func failSteadily(b *testing.B, c load.Callers, failed *atomic.Int64) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for i := range benchFailing {
		all.Go(func() {
			tick := time.NewTicker(time.Second * benchFailing / benchFailures)
			defer tick.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
					if err := c.Call(benchCallers+i, load.Fail); err != nil {
						b.Error(err)
						return
					}
					failed.Add(1)
				}
			}
		})
	}
	return func() { cancel(); all.Wait() }
}

// openConsoles serves a console over a ledger and reads the live feeds of ten pages. It returns the number of events.
func openConsoles(b *testing.B, dir string) *atomic.Int64 {
	b.Helper()
	store, err := failures.Open(dir, failures.Options{NoCache: true})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = store.Run(ctx) })
	<-store.Ready()
	server := console.New(console.Options{Dir: dir, Failures: store})
	web := httptest.NewServer(server)
	events := &atomic.Int64{}
	for range benchConsoles {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, web.URL+"/live", http.NoBody)
		if err != nil {
			b.Fatal(err)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			b.Fatal(err)
		}
		running.Go(func() {
			defer res.Body.Close() //nolint:errcheck // it was only read
			lines := bufio.NewReaderSize(res.Body, 64<<10)
			for {
				line, err := lines.ReadSlice('\n')
				if err != nil && len(line) == 0 {
					return
				}
				if string(line) == "event: rows\n" {
					events.Add(1)
				}
			}
		})
	}
	b.Cleanup(func() { server.Close(); cancel(); web.Close(); running.Wait(); store.Close() })
	return events
}
