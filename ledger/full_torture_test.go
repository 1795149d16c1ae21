package ledger_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/crashfs"
	"github.com/candor-mcp/candor/internal/testing/wait"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/ledger/verify"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestR4DiskFullAndBackInMemory does the same in memory for many limits.
func TestR4DiskFullAndBackInMemory(t *testing.T) {
	for limit := int64(20 << 10); limit < 40<<10; limit += 509 {
		disk := crashfs.New()
		w := workload{options: ledger.Options{ReserveBytes: 8 << 10}}
		w.play = func(s *stage) {
			f := fullness{
				t: s.t, look: func() (verify.Report, error) { return verifyDisks(disk, nil) },
				read: func() (*inventory, error) { return readFolder(disk.View()) },
				fill: func() { disk.SetLimit(limit) }, empty: func() { disk.SetLimit(0) },
			}
			f.endure(func(o ledger.Options) (*ledger.Ledger, error) {
				o.ReserveBytes = w.options.ReserveBytes
				return ledger.Open("", withDisk(o, disk, nil))
			})
		}
		perform(t, w, 1, nil)
		if t.Failed() {
			t.Fatalf("limit %d", limit)
		}
	}
}

// fullness tests a ledger on a disk that becomes full and is emptied again.
type fullness struct {
	t            *testing.T
	look         func() (verify.Report, error)
	read         func() (*inventory, error)
	fill, empty  func()
	acknowledged acknowledged
	warnings     chan ledger.Warning
}

func (f *fullness) endure(open func(ledger.Options) (*ledger.Ledger, error)) {
	f.warnings = make(chan ledger.Warning, 1000)
	l, err := open(ledger.Options{OnWarning: func(w ledger.Warning) { f.warnings <- w }})
	must(f.t, err)
	for round := range 3 {
		must(f.t, f.append(l, fmt.Sprintf("before-%d", round)))
		f.fill()
		refused := f.untilRefused(l, round)
		f.clean("while the disk is full")
		f.recorded("full", round+1) // recorded now, not when there is space again
		f.empty()
		f.untilServed(l, round)
		f.clean("when there is room again")
		f.recorded("space", round+1)
		f.t.Logf("round %d: %v", round, refused)
	}
	must(f.t, l.Close())
	f.clean("at the end")
	f.remembers()
}

func (f *fullness) append(l *ledger.Ledger, ref string) error {
	r, err := l.Append(f.t.Context(), ledger.Entry{Kind: ledger.KindFailure, Ref: ref, Envelope: []byte(strings.Repeat("x", 700))})
	if err == nil {
		f.acknowledged.add(r)
	}
	return err
}

// untilRefused uses up the reserved space. The refusal must have its error code.
func (f *fullness) untilRefused(l *ledger.Ledger, round int) error {
	for i := range 10_000 {
		err := f.append(l, fmt.Sprintf("full-%d-%d", round, i))
		if err == nil {
			continue
		}
		if !saysWhy(err) {
			f.t.Fatalf("refused with %v", err)
		}
		for range 5 { // later entries are refused too
			if f.append(l, "never") == nil {
				f.t.Error("an entry was taken although the disk is full")
			}
		}
		return err
	}
	f.t.Fatal("the disk is full, and ten thousand entries were taken")
	return nil
}

// untilServed waits until entries are accepted again.
func (f *fullness) untilServed(l *ledger.Ledger, round int) {
	i := 0
	wait.For(f.t, "the ledger to accept entries on a disk with space", func() error {
		i++
		return f.append(l, fmt.Sprintf("after-%d-%d", round, i))
	})
}

func (f *fullness) clean(when string) {
	report, err := f.look()
	must(f.t, err)
	if !report.OK {
		f.t.Fatalf("false alarm %s: %v", when, report.Damage)
	}
	for _, c := range report.Chains {
		if c.Torn > 0 {
			f.t.Errorf("%s half a record of %d bytes is visible", when, c.Torn)
		}
	}
}

// recorded checks that at least the given number of entries record that state of the disk.
func (f *fullness) recorded(disk string, times int) {
	got, err := f.read()
	must(f.t, err)
	if got.disk[disk] < times { // more are allowed, because a little space may become free and be used again
		f.t.Errorf("%d entries say that the disk was %s, want %d at least", got.disk[disk], disk, times)
	}
}

// remembers checks that no acknowledged entry is missing, no refused entry was recorded, and the operator was warned.
func (f *fullness) remembers() {
	got, err := f.read()
	must(f.t, err)
	if lost := got.lost(f.acknowledged.all()); len(lost) > 0 {
		f.t.Errorf("%d acknowledged entries are lost", len(lost))
	}
	if got.refs["never"] > 0 {
		f.t.Error("a refused entry is in the ledger")
	}
	seen := map[string]int{}
	for close(f.warnings); ; {
		w, more := <-f.warnings
		if !more {
			break
		}
		seen[w.Kind]++
	}
	if seen["full"] == 0 || seen["space-back"] == 0 {
		f.t.Errorf("the operator was not acknowledged: %v", seen)
	}
}
