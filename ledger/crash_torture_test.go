package ledger_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/crashfs"
)

var cuts = flag.Int("cuts", 600, "how often TestR2PowerCutsLoseNothingAcknowledged cuts the power, at least")

// cutter checks survivors on all processors while the workload produces more of them.
type cutter struct {
	queue   chan survivor
	workers sync.WaitGroup
	cuts    atomic.Int64 // simulated power cuts
	checked atomic.Int64 // survivors that differ from all others of their workload
	failed  atomic.Int64
}

func newCutter(t *testing.T) *cutter {
	c := &cutter{queue: make(chan survivor, 64)}
	for range runtime.GOMAXPROCS(0) {
		c.workers.Go(func() {
			for s := range c.queue {
				c.checked.Add(1)
				err := s.check()
				if held := s.disk.Reserved(); err == nil && held > 0 {
					err = fmt.Errorf("the next writer did not release %d reserved bytes", held)
				}
				if err != nil && c.failed.Add(1) <= 10 {
					t.Errorf("%s: %v", s.where, err)
				}
			}
		})
	}
	return c
}

// wait returns when all survivors were checked.
func (c *cutter) wait() {
	close(c.queue)
	c.workers.Wait()
}

// cutting makes a stage lose power seeds times after every operation that changes the disk. A power cut after a read
// would have the same result as the previous one. The operations that only prepare a workload are cut with the first
// seed; other workloads consist of the same operations.
func (c *cutter) cutting(w workload, seed uint64, seeds int) func(*stage) {
	type sight struct {
		disk, second uint64
		acknowledged int
	}
	seen := map[sight]bool{} // survivors with the same content and the same receipts are checked once
	return func(s *stage) {
		s.hook = func(index int, op crashfs.Op, cut func(*rand.Rand) *crashfs.FS) {
			if !op.Changes() || testing.Short() && index%4 != 0 || seed > 1 && s.filling.Load() {
				return
			}
			acknowledged := s.acknowledged.all() // receipts added later may depend on later operations
			for i := range seeds {
				rng := rand.New(rand.NewPCG(seed, uint64(index)<<16|uint64(i)))
				left := survivor{disk: cut(rng), options: w.options, prunes: w.prunes, acknowledged: acknowledged}
				left.where = fmt.Sprintf("%s, seed %d, power cut %d after operation %d (%s)", w.name, seed, i, index, op)
				at := sight{disk: left.disk.Sum(), acknowledged: len(acknowledged)}
				if s.second != nil {
					left.second = s.second.Crash(rng)
					at.second = left.second.Sum()
				}
				if c.cuts.Add(1); !seen[at] {
					seen[at] = true
					c.queue <- left
				}
			}
		}
	}
}

// TestR2PowerCutsLoseNothingAcknowledged cuts the power after every operation of every workload. The ledger must open
// on the survivor and continue, every acknowledged entry must exist, and the verifier must not report the traces of a
// power cut as damage.
func TestR2PowerCutsLoseNothingAcknowledged(t *testing.T) {
	relaxGC(t)
	want, seeds := int64(*cuts), 12
	if want < 10_000 {
		seeds = 1 // the power cuts of one seed cover all workloads
	}
	if testing.Short() {
		want, seeds = 1, 1
	}
	c := newCutter(t)
	for seed := uint64(1); c.cuts.Load() < want && c.failed.Load() == 0; seed++ {
		for _, w := range workloads {
			s := perform(t, w, seed, c.cutting(w, seed, seeds))
			if len(s.refused) > 0 {
				t.Errorf("%s: on a healthy disk the ledger refused: %v", w.name, s.refused)
			}
			if seed == 1 {
				t.Logf("%s: %d operations, %d receipts", w.name, s.disk.Ops(), len(s.acknowledged.all()))
			}
		}
	}
	c.wait()
	t.Logf("%d power cuts, %d different survivors", c.cuts.Load(), c.checked.Load())
}
