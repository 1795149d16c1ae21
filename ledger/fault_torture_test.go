package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/testing/crashfs"
	"github.com/candor-mcp/candor/internal/testing/sweep"
	"github.com/candor-mcp/candor/ledger"
)

// strike is one fault at one operation of one workload.
type strike struct {
	workload workload
	fault    crashfs.Fault
	at       int
}

func (k strike) String() string {
	return fmt.Sprintf("%s, %s at operation %d", k.workload.name, k.fault, k.at)
}

// play runs the workload with the fault, and reports whether the fault struck.
func (k strike) play(t *testing.T, seed uint64) (s *stage, struck bool) {
	w := k.workload
	play := w.play
	w.play = func(s *stage) {
		play(s)
		struck = s.disk.Heal()
		s.comeBack()
	}
	s = perform(t, w, seed, func(s *stage) { s.disk.Plant(k.fault, k.at) })
	return s, struck
}

// comeBack checks that a ledger can be opened and used in the same process after the fault was removed.
func (s *stage) comeBack() {
	before := len(s.refused)
	l := s.open()
	s.append(l, 50)
	s.close(l)
	if len(s.refused) > before {
		s.t.Errorf("the disk is well again, and the ledger refuses: %v", s.refused[before:])
	}
}

// check checks the process in which the fault struck, then those that follow it: immediately, after a power cut, and
// both.
func (k strike) check(s *stage, seed uint64) error {
	for _, err := range s.refused {
		if !saysWhy(err) {
			return fmt.Errorf("refused with %v: neither AUDIT_LOG_FAILED nor AUDIT_LOCK_FAILED", err)
		}
	}
	if err := leftClean(s.disk); err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(seed, uint64(k.at)))
	left := survivor{options: k.workload.options, prunes: k.workload.prunes, acknowledged: s.acknowledged.all()}
	for _, next := range []struct {
		name string
		take func(*crashfs.FS) *crashfs.FS
	}{
		{"a restart", (*crashfs.FS).Restart},
		{"a power cut", func(f *crashfs.FS) *crashfs.FS { return f.Crash(rng) }},
		{"another power cut", func(f *crashfs.FS) *crashfs.FS { return f.Crash(rng) }},
	} {
		left.disk = next.take(s.disk)
		if s.second != nil {
			left.second = next.take(s.second)
		}
		if err := left.check(); err != nil {
			return fmt.Errorf("after %s: %w", next.name, err)
		}
	}
	return nil
}

func saysWhy(err error) bool {
	var e *candor.Error
	return errors.As(err, &e) && (e.Code() == candor.CodeLedgerFailed || e.Code() == candor.CodeLedgerLocked)
}

// TestR3FaultAtEveryIOIndex fails every operation of every workload in every way it can fail; without -all, only some
// of the operations. The ledger must return its error code or work without the operation, never trust a file if its
// sync failed, leave nothing open, work again when the disk does, and lose no acknowledged entry.
func TestR3FaultAtEveryIOIndex(t *testing.T) {
	relaxGC(t)
	step := sweep.Step(23, 37)
	var jobs []strike
	for _, w := range workloads {
		for at, op := range operations(t, w) {
			for i, fault := range crashfs.Faults() {
				if (at+i)%step == 0 && fault.Concerns(op) { // each fault strikes different operations
					jobs = append(jobs, strike{w, fault, at})
				}
			}
		}
	}
	struck := inParallel(t, jobs, func(t *testing.T, k strike) (bool, error) {
		s, struck := k.play(t, 1)
		if !struck {
			return false, nil
		}
		return true, k.check(s, 1)
	})
	t.Logf("%d faults struck, of %d planted", struck, len(jobs))
}

// operations runs a workload without faults and returns its operations.
func operations(t *testing.T, w workload) (ops []crashfs.Op) {
	perform(t, w, 1, func(s *stage) {
		s.hook = func(_ int, op crashfs.Op, _ func(*rand.Rand) *crashfs.FS) { ops = append(ops, op) }
	})
	return ops
}

// relaxGC trades memory for time: the garbage of these tests is short-lived.
func relaxGC(t *testing.T) {
	before := debug.SetGCPercent(800)
	t.Cleanup(func() { debug.SetGCPercent(before) })
}

// inParallel runs all jobs on all processors and returns the number of calls that returned true.
func inParallel[T fmt.Stringer](t *testing.T, jobs []T, do func(*testing.T, T) (bool, error)) int64 {
	var next, counted, failed atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(jobs)) && failed.Load() < 10; i = next.Add(1) - 1 {
				counts, err := do(t, jobs[i])
				if err != nil {
					failed.Add(1)
					t.Errorf("%s: %v", jobs[i], err)
				}
				if counts {
					counted.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return counted.Load()
}

// TestServiceResumesAfterTransientFault keeps one ledger open during a fault that strikes once.
func TestServiceResumesAfterTransientFault(t *testing.T) {
	play := func(s *stage) {
		l := s.open()
		s.appendAtOnce(l, 3, 3, 300)
		s.pass(2 * time.Second)
		if s.disk.Heal() && l != nil {
			s.resumes(l)
		}
		s.close(l)
	}
	w := workload{name: "resuming", options: ledger.Options{MaxSegmentBytes: ledger.MinSegmentBytes}, play: play}
	ops, step := perform(t, w, 1, nil).disk.Ops(), sweep.Step(5, 7)
	for at := 0; at < ops; at += step {
		for _, fault := range crashfs.Faults() {
			s := perform(t, w, 1, func(s *stage) { s.disk.Plant(fault, at) })
			left := survivor{disk: s.disk.Crash(s.rng), options: w.options, acknowledged: s.acknowledged.all()}
			if err := left.check(); err != nil {
				t.Errorf("%s at operation %d: %v", fault, at, err)
			}
		}
		if t.Failed() {
			return
		}
	}
}

// resumes checks that the ledger works again after the fault was removed. The ledger may need a few seconds and one
// refusal to notice.
func (s *stage) resumes(l *ledger.Ledger) {
	var err error
	for range 3 {
		var r ledger.Receipt
		if r, err = l.Append(context.Background(), s.entry(50)); err == nil {
			s.acknowledged.add(r)
			return
		}
		s.pass(2 * time.Second)
	}
	s.t.Errorf("the disk is well again, and the ledger still refuses: %v", err)
}
