package ledger_test

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/wait"
	"github.com/candor-mcp/candor/ledger"
)

var soak = flag.Int("soak", 6_000, "how many entries TestSoakLeaksNothing appends")

// footprint is the resource use of the process.
type footprint struct {
	goroutines, descriptors int
	heap                    uint64
}

func takeFootprint(t *testing.T) footprint {
	t.Helper()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc to count descriptors in")
	}
	return footprint{runtime.NumGoroutine(), len(fds), m.HeapAlloc}
}

// TestSoakLeaksNothing appends many entries with rotation, compression and retention, opens and closes the ledger
// often, and compares the resource use of the process.
func TestSoakLeaksNothing(t *testing.T) {
	count := *soak
	if testing.Short() {
		count = 2_000
	}
	dir := t.TempDir() + "/ledger"
	options := ledger.Options{
		MaxSegmentBytes: 256 << 10, Compress: true, RetainBytes: 4 << 20, WitnessCopy: dir + ".second",
	}
	lifetime := func(entries int) {
		l, err := ledger.Open(dir, options)
		must(t, err)
		s := &stage{t: t, acknowledged: &acknowledged{}, rng: newRand(1)}
		s.appendAtOnce(l, 64, entries/64, 400)
		s.effects(l, 4)
		must(t, l.Close())
		if len(s.refused) > 0 {
			t.Fatal(s.refused)
		}
	}
	lifetime(640)
	before := takeFootprint(t)
	const lives = 10
	for range lives {
		lifetime(count / lives)
	}
	after := takeFootprint(t)
	wait.For(t, "goroutines and files to end", func() error {
		if after = takeFootprint(t); after.goroutines > before.goroutines || after.descriptors > before.descriptors {
			return fmt.Errorf("before %+v, after %+v", before, after)
		}
		return nil
	})
	if after.heap > before.heap+16<<20 {
		t.Errorf("the heap grew from %d to %d bytes", before.heap, after.heap)
	}
	verifiesClean(t, dir)
	t.Logf("before %+v, after %+v", before, after)
}
