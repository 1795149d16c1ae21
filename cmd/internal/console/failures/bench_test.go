package failures_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/console/failures"
	"github.com/candor-mcp/candor/ledger"
)

var entries = flag.Int("entries", 20_000, "how many entries the ledger of the benchmarks has; decision 030 has the figures for 1,000,000")

// largeLedger writes the ledger of the benchmarks. Many callers share each sync.
func largeLedger(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	l := openLedger(b, dir, ledger.Options{})
	const callers = 512
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 7))
			for range *entries/callers + 1 {
				if _, err := l.Append(context.Background(), randomEntry(random)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	return dir
}

// BenchmarkStore measures what a person waits for, and the memory of the index.
func BenchmarkStore(b *testing.B) {
	dir, cache := largeLedger(b), b.TempDir()
	b.Run("open", func(b *testing.B) { benchOpen(b, dir, failures.Options{NoCache: true}) })
	defer failures.SetMinSaved(1)()
	open(b, dir, failures.Options{Cache: cache, Poll: time.Millisecond})
	for names, _ := filepath.Glob(cache + "/*.index"); len(names) == 0; names, _ = filepath.Glob(cache + "/*.index") {
		time.Sleep(10 * time.Millisecond)
	}
	b.Run("open-cached", func(b *testing.B) { benchOpen(b, dir, failures.Options{Cache: cache}) })

	s, ctx := open(b, dir, failures.Options{NoCache: true}), context.Background()
	for name, f := range map[string]failures.Filter{
		"all": {}, "tool": {Tool: "search"}, "session": {Session: "s-3"}, "ref": {Ref: "abcdef"}, "since": {Since: time.Now().Add(-time.Hour)},
	} {
		b.Run("page/"+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.List(ctx, f, "", 50); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("summary/"+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Summarize(ctx, f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	n := 0
	b.Run("search/first", func(b *testing.B) {
		used := cpuTime()
		defer func() { b.ReportMetric(float64((cpuTime()-used).Milliseconds())/float64(b.N), "cpu-ms/op") }()
		for b.Loop() {
			n++
			if _, err := s.List(ctx, failures.Filter{Text: fmt.Sprint("refused (", n)}, "", 50); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("search/again", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.List(ctx, failures.Filter{Text: "refused (7"}, "", 50); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func benchOpen(b *testing.B, dir string, options failures.Options) {
	var before, after runtime.MemStats
	for b.Loop() {
		b.StopTimer()
		runtime.GC()
		runtime.ReadMemStats(&before)
		used := cpuTime()
		b.StartTimer()
		s := open(b, dir, options)
		b.StopTimer()
		b.ReportMetric(float64((cpuTime() - used).Milliseconds()), "cpu-ms/op")
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(s.Progress().Failures), "B/failure")
		b.StartTimer()
	}
}

// BenchmarkFollow compares writing failures alone, and with a store that delivers them to ten subscribers.
func BenchmarkFollow(b *testing.B) {
	for _, subscribers := range []int{-1, 0, 10} {
		b.Run(fmt.Sprint("subscribers=", subscribers), func(b *testing.B) {
			dir := b.TempDir()
			l := openLedger(b, dir, ledger.Options{})
			var got atomic.Int64
			if subscribers >= 0 {
				s := open(b, dir, failures.Options{NoCache: true})
				for range subscribers {
					sub := s.Subscribe(failures.Filter{})
					go func() {
						for range sub.C {
							got.Add(1)
						}
					}()
				}
			}
			e := randomEntry(rand.New(rand.NewPCG(1, 2)))
			before := cpuTime()
			// 1,000 failures a second, as the gateway writes them: several calls at the same time
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			for n := 0; n < b.N; n += 10 {
				<-tick.C
				var all sync.WaitGroup
				for range 10 {
					all.Go(func() {
						if _, err := l.Append(context.Background(), e); err != nil {
							b.Error(err)
						}
					})
				}
				all.Wait()
			}
			time.Sleep(300 * time.Millisecond)
			b.ReportMetric(float64(cpuTime()-before)/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(got.Load())/float64(b.N), "delivered/op")
		})
	}
}
