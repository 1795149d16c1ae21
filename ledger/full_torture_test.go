package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/candor-mcp/candor/internal/testing/crashfs"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/ledger/verify"
)

// TestR4DiskFullAndBack fills a small file system in a separate process, frees the space again, and expects the
// ledger to continue without a restart.
func TestR4DiskFullAndBack(t *testing.T) {
	dir := t.TempDir()
	cmd := process(t, "full", dir)
	cmd.Args = append(cmd.Args, "-test.v")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 { // unprivileged users may mount in a user namespace, where those are allowed
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, syscall.EPERM), strings.Contains(string(out), "may not mount"):
		t.Skipf("no namespace to mount a small file system in: %v", err)
	case err != nil:
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// fullRole mounts a file system, fills and empties it, and checks the ledger. The mount is visible only in its
// namespace.
func fullRole(t *testing.T, dir string) {
	private := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "")
	if err := errors.Join(private, syscall.Mount("candor", dir, "tmpfs", 0, "size=1m")); err != nil {
		t.Fatalf("may not mount: %v", err)
	}
	folder, filling := filepath.Join(dir, "ledger"), filepath.Join(dir, "filling")
	f := fullness{
		t: t, look: func() (verify.Report, error) { return verify.Dir(context.Background(), folder, verify.Options{}) },
		read: func() (*inventory, error) { return readFolder(os.DirFS(folder)) },
		fill: func() { fill(t, filling) }, empty: func() { must(t, os.Remove(filling)) },
	}
	f.endure(func(o ledger.Options) (*ledger.Ledger, error) { return ledger.Open(folder, o) })
}

// fill writes until the disk is full.
func fill(t *testing.T, name string) {
	f, err := os.Create(name)
	must(t, err)
	defer f.Close() //nolint:errcheck // the disk is meant to be full
	for size := 64 << 10; size > 0; {
		if _, err := f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else {
			must(t, err)
		}
	}
}

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
		w := workload{options: ledger.Options{ReserveBytes: 8 << 10, LowSpaceBytes: -1}}
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

// fullness tests a ledger whose disk becomes full and is emptied again.
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
	var err error
	for i := range 50 {
		if err = f.append(l, fmt.Sprintf("after-%d-%d", round, i)); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	f.t.Fatalf("there is room again, and the ledger still refuses: %v", err)
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
