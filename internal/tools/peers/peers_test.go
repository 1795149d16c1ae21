// Package peers compares durable appending with other storage engines. It is a separate module, so that they stay out of the main one.
package peers

import (
	"fmt"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
)

// targets are the minimum ratios of the ledger's rate to that of a peer.
var targets = []struct {
	callers, records int
	ours             map[string]float64
}{
	{1, 300, map[string]float64{"plain": 0.8}},
	{16, 2000, map[string]float64{"plain": 4}},
	{128, 40000, map[string]float64{"sqlite-batched": 1.5, "bbolt": 2.2, "plain": 20}},
}

var openers = []opener{openOurs, openPlain, openBolt, openSQLiteBatched}

// slow engines get fewer records, because their rate does not depend on the count.
var slow = map[string]int{"plain": 600, "bbolt": 2000}

// BenchmarkP10Append runs all engines in turns, one round per iteration, and compares their medians: on a shared machine only
// engines measured at the same time can be compared. Run it with -benchtime 5x.
func BenchmarkP10Append(b *testing.B) {
	for _, target := range targets {
		b.Run(fmt.Sprintf("callers=%d", target.callers), func(b *testing.B) {
			rates, cpus, record := map[string][]float64{}, map[string][]float64{}, line(b)
			for b.Loop() {
				for _, open := range openers {
					name, rate, cpu := measure(b, open, record, target.callers, target.records)
					rates[name], cpus[name] = append(rates[name], rate), append(cpus[name], cpu)
				}
			}
			report(b, rates, cpus, target.ours)
		})
	}
}

func measure(b *testing.B, open opener, record []byte, callers, records int) (name string, rate, cpu float64) {
	e := open(b, b.TempDir(), callers)
	if most, ok := slow[e.name]; ok {
		records = min(records, most)
	}
	began, spent := time.Now(), cpuTime(b)
	run(b, e, record, callers, records)
	took, used := time.Since(began), cpuTime(b)-spent
	must(b, e.close())
	return e.name, float64(records) / took.Seconds(), float64(used.Microseconds()) / float64(records)
}

// cpuTime returns the CPU time of this process, which is steadier than wall time on a shared machine.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func run(b *testing.B, e engine, record []byte, callers, records int) {
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for range (records + c) / callers { // the total is exactly records
				if err := e.append(record); err != nil {
					b.Errorf("%s: %v", e.name, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func report(b *testing.B, rates, cpus map[string][]float64, least map[string]float64) {
	b.ReportMetric(0, "ns/op") // the time of a round means nothing
	ours := median(rates["ledger"])
	for name, all := range rates {
		rate := median(all)
		b.ReportMetric(rate, name+"/s")
		b.ReportMetric(median(cpus[name]), name+"-cpu-µs")
		if name == "ledger" {
			continue
		}
		b.ReportMetric(ours/rate, "x-"+name)
		if want := least[name]; len(all) >= 5 && ours < want*rate {
			b.Logf("MISSED: %.2f times %s, the target is %.1f", ours/rate, name, want) // failing would hide the figures
		}
	}
}

func median(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}
