package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/testing/crashfs"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/ledger/verify"
)

// stage is the environment of a workload: a disk, a second one for checkpoints, and the receipts of the callers. It
// runs in a synctest bubble, where waiting takes no time.
type stage struct {
	t            *testing.T
	disk         *crashfs.FS
	second       *crashfs.FS // nil if there is no witness copy
	options      ledger.Options
	acknowledged *acknowledged
	rng          *rand.Rand
	hook         func(index int, op crashfs.Op, cut func(*rand.Rand) *crashfs.FS) // called after every operation of the disk; may be nil
	refused      []error                                                          // errors returned by the ledger, guarded by mu
	mu           sync.Mutex
	refs         int
	killed       []*ledger.Ledger // ledgers of killed processes; closed after all checks
	filling      atomic.Bool      // the workload has not reached the operations that it is about
}

// workload is a typical use of a ledger.
type workload struct {
	name    string
	options ledger.Options
	second  bool
	prunes  bool // it removes old entries on purpose
	play    func(*stage)
}

var workloads = []workload{
	{name: "one caller", play: func(s *stage) {
		l := s.open()
		s.appendInTurn(l, 5, 40)
		s.close(l)
	}},
	{name: "many callers", play: func(s *stage) {
		l := s.open()
		s.appendAtOnce(l, 8, 3, 200)
		s.close(l)
	}},
	{name: "long entries", play: func(s *stage) {
		l := s.open()
		s.appendAtOnce(l, 4, 2, 2500)
		s.close(l)
	}},
	{name: "effects", play: func(s *stage) {
		l := s.open()
		s.effects(l, 4)
		s.close(l)
	}},
	{name: "rotation", options: ledger.Options{MaxSegmentBytes: ledger.MinSegmentBytes}, play: func(s *stage) {
		l := s.open()
		s.appendAtOnce(l, 4, 3, 900)
		s.appendInTurn(l, 4, 600)
		s.close(l)
	}},
	{name: "compression", options: ledger.Options{MaxSegmentBytes: ledger.MinSegmentBytes, Compress: true}, play: func(s *stage) {
		l := s.open()
		s.appendInTurn(l, 10, 900)
		s.pass(time.Second)
		s.appendInTurn(l, 2, 50)
		s.close(l)
	}},
	{name: "retention", prunes: true, options: ledger.Options{MaxSegmentBytes: ledger.MinSegmentBytes, RetainBytes: 6000}, play: func(s *stage) {
		l := s.open()
		s.appendInTurn(l, 16, 900)
		s.pass(time.Hour)
		s.appendInTurn(l, 2, 900)
		s.close(l)
	}},
	{name: "prune", prunes: true, second: true, options: ledger.Options{MaxSegmentBytes: ledger.MinSegmentBytes}, play: func(s *stage) {
		used := s.fillForPrune()
		s.prune(time.Hour)
		s.appendInTurn(used, 2, 900)
		s.close(used)
	}},
	{name: "checkpoints", second: true, play: func(s *stage) {
		l := s.open()
		for range 3 {
			s.appendInTurn(l, 2, 50)
			s.pass(1500 * time.Millisecond)
		}
		s.close(l)
	}},
	{name: "restarts", play: func(s *stage) {
		for range 3 {
			l := s.open()
			s.appendAtOnce(l, 2, 2, 100)
			s.close(l)
		}
	}},
	{name: "kills", second: true, play: func(s *stage) {
		for range 2 {
			l := s.open()
			s.appendAtOnce(l, 2, 2, 300)
			s.effects(l, 1)
			s.kill(l)
		}
		s.close(s.open())
	}},
	{name: "two writers", play: func(s *stage) {
		one, two := s.open(), s.open()
		s.appendInTurn(one, 2, 100)
		s.appendAtOnce(two, 3, 1, 100)
		s.close(one)
		s.appendInTurn(two, 1, 100)
		s.close(two)
	}},
}

// keptInstance is the instance of chains that no workload prunes.
const keptInstance = "kept"

// newStage returns a stage for a workload, with an empty disk.
func newStage(t *testing.T, w workload, seed uint64) *stage {
	s := &stage{t: t, disk: crashfs.New(), options: w.options, acknowledged: &acknowledged{}, rng: newRand(seed)}
	if w.second {
		s.second = crashfs.New()
	}
	return s
}

// perform runs a workload in a bubble and returns the stage at its end.
func perform(t *testing.T, w workload, seed uint64, prepare func(*stage)) (s *stage) {
	synctest.Test(t, func(t *testing.T) {
		s = newStage(t, w, seed)
		if prepare != nil {
			prepare(s)
		}
		s.disk.After(s.hook)
		w.play(s)
		s.leave()
	})
	return s
}

// leave closes the ledgers of killed processes.
func (s *stage) leave() {
	s.disk.After(nil)
	for _, l := range s.killed {
		_ = l.Close()
	}
}

// withDisk returns the options for a ledger on these disks.
func withDisk(o ledger.Options, disk, second *crashfs.FS) ledger.Options {
	if o.ReserveBytes == 0 {
		o.ReserveBytes = 1 << 10 // less to copy for every power cut
	}
	if second != nil {
		o.WitnessCopy = "second"
		return o.WithStorage(crashStorage{disk}, crashStorage{second})
	}
	return o.WithStorage(crashStorage{disk}, nil)
}

// open opens a ledger. It returns nil if that fails.
func (s *stage) open() *ledger.Ledger {
	l, err := ledger.Open("", withDisk(s.options, s.disk, s.second))
	if err != nil {
		s.refuse(err)
		return nil
	}
	return l
}

func (s *stage) close(l *ledger.Ledger) {
	if l == nil {
		return
	}
	if err := l.Close(); err != nil {
		s.refuse(err)
	}
}

// pass lets time pass, which is that of the bubble, so that the work of the background is done.
func (s *stage) pass(d time.Duration) { time.Sleep(d) }

// fillForPrune writes chains that are two hours old: one closed, one killed, and one that it returns open. Then it
// writes a new one, of keptInstance.
func (s *stage) fillForPrune() (used *ledger.Ledger) {
	s.filling.Store(true)
	defer s.filling.Store(false)
	closed := s.open()
	s.appendInTurn(closed, 6, 1200)
	s.close(closed)
	killed := s.open()
	s.appendInTurn(killed, 6, 1200)
	s.kill(killed)
	used = s.open()
	s.appendInTurn(used, 8, 1200)
	s.pass(2 * time.Hour)
	s.options.Instance = keptInstance
	kept := s.open()
	s.appendInTurn(kept, 6, 1200)
	s.close(kept)
	return used
}

// prune removes the segments that are older than age.
func (s *stage) prune(age time.Duration) {
	o := withDisk(s.options, s.disk, s.second)
	o.RetainAge = age
	if _, err := ledger.Prune(context.Background(), "", o); err != nil {
		s.refuse(err)
	}
}

// kill simulates the kill of a process: its writes stay in the cache, and its locks are released.
func (s *stage) kill(l *ledger.Ledger) {
	if l != nil {
		s.killed = append(s.killed, l)
	}
	s.disk.After(nil)
	s.disk = s.disk.Restart()
	if s.second != nil {
		s.second = s.second.Restart()
	}
	s.disk.After(s.hook)
}

func (s *stage) refuse(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = append(s.refused, err)
}

// entry returns a unique entry with an envelope of about that size.
func (s *stage) entry(size int) ledger.Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refs++
	return ledger.Entry{
		Kind: ledger.KindFailure, Ref: fmt.Sprintf("ref-%d", s.refs), Tool: "read_file", Code: candor.CodeNotFound, Outcome: ledger.OutcomeError,
		Envelope: []byte(strings.Repeat("x", s.rng.IntN(size+1))),
	}
}

func (s *stage) append(l *ledger.Ledger, size int) {
	if l == nil {
		return
	}
	r, err := l.Append(context.Background(), s.entry(size))
	if err != nil {
		s.refuse(err)
		return
	}
	s.acknowledged.add(r)
}

func (s *stage) appendInTurn(l *ledger.Ledger, count, size int) {
	for range count {
		s.append(l, size)
	}
}

func (s *stage) appendAtOnce(l *ledger.Ledger, callers, count, size int) {
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() { s.appendInTurn(l, count, size) })
	}
	wg.Wait()
}

// effects reserves count effects and completes every other one.
func (s *stage) effects(l *ledger.Ledger, count int) {
	if l == nil {
		return
	}
	for i := range count {
		effect, err := l.Reserve(context.Background(), s.entry(100))
		if err != nil {
			s.refuse(err)
			continue
		}
		s.acknowledged.add(effect.Receipt())
		if i%2 == 1 {
			continue
		}
		r, err := effect.Complete(context.Background(), ledger.Entry{Outcome: ledger.OutcomeOK})
		if err != nil {
			s.refuse(err)
			continue
		}
		s.acknowledged.add(r)
	}
}

// survivor is the state of the disks at some moment, with the receipts that had been returned by then.
type survivor struct {
	disk, second *crashfs.FS
	options      ledger.Options
	prunes       bool
	acknowledged []ledger.Receipt
	where        string
}

// check opens the survivor, continues to use it, and compares it with the receipts.
func (s survivor) check() error {
	if err := s.verify("before recovery"); err != nil {
		return err
	}
	if err := s.goOn(); err != nil {
		return fmt.Errorf("going on: %w", err)
	}
	if err := s.verify("after recovery"); err != nil {
		return err
	}
	f, err := readFolder(s.disk.View())
	if err != nil {
		return err
	}
	lost := slices.DeleteFunc(f.lost(s.acknowledged), func(r ledger.Receipt) bool {
		return s.prunes && !strings.HasPrefix(r.Chain, keptInstance)
	})
	if len(lost) > 0 {
		return fmt.Errorf("%d of %d acknowledged entries are lost, the first is %s/%d", len(lost), len(s.acknowledged), lost[0].Chain, lost[0].Seq)
	}
	if len(f.twice) > 0 {
		return fmt.Errorf("%d entries are there twice, the first is %v", len(f.twice), f.twice[0])
	}
	return leftClean(s.disk)
}

// leftClean checks that no rule was violated and no file left open.
func leftClean(disk *crashfs.FS) error {
	if broken := disk.Broken(); len(broken) > 0 {
		return fmt.Errorf("rules were broken: %v", broken)
	}
	if open := disk.Open(); open != 0 {
		return fmt.Errorf("%d files were left open", open)
	}
	return nil
}

func (s survivor) goOn() error {
	l, err := ledger.Open("", withDisk(s.options, s.disk, s.second))
	if err != nil {
		return err
	}
	_, err = l.Append(context.Background(), ledger.Entry{Kind: ledger.KindSuccess, Tool: "after"})
	return errors.Join(err, l.Close())
}

func (s survivor) verify(when string) error {
	report, err := verifyDisks(s.disk, s.second)
	if err != nil {
		return fmt.Errorf("verifying %s: %w", when, err)
	}
	if !report.OK {
		return fmt.Errorf("false alarm %s: %v", when, report.Damage)
	}
	return nil
}

// verifyDisks verifies a ledger on disks in memory.
func verifyDisks(disk, second *crashfs.FS) (verify.Report, error) {
	var options verify.Options
	if second != nil {
		if _, err := fs.Stat(second.View(), "second"); err == nil {
			options = verify.Options{WitnessFS: second.View(), WitnessCopies: []string{"second"}}
		}
	}
	report, err := verify.FS(context.Background(), disk.View(), options)
	if errors.Is(err, verify.ErrNoLedger) { // the crash happened before the key was created
		return verify.Report{OK: true}, nil
	}
	return report, err
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }
