package ledger

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// testClock is a clock that only moves when it is set.
type testClock struct{ micros atomic.Int64 }

func newTestClock() *testClock {
	c := &testClock{}
	c.micros.Store(time.Date(2026, 11, 15, 4, 5, 6, 0, time.UTC).UnixMicro())
	return c
}

func (c *testClock) now() time.Time       { return time.UnixMicro(c.micros.Load()) }
func (c *testClock) move(d time.Duration) { c.micros.Add(d.Microseconds()) }

// withoutCheckpoints removes all checkpoints from the only chain of a folder and makes the other entries follow from each other again.
func withoutCheckpoints(t *testing.T, dir string, drop int64) {
	t.Helper()
	chain := chainsOf(t, dir)[0]
	sum := genesis(chain)
	prev, seq := sum.String(), int64(0)
	var out []byte
	for i, raw := range bytes.Split(bytes.TrimSpace(fileOf(t, dir, chain, activeSegment)), []byte("\n")) {
		line, err := parseLine(raw)
		if err != nil {
			t.Fatal(err)
		}
		if line.Kind == KindCheckpoint || int64(i)+1 == drop {
			continue
		}
		seq++
		_, rest, _ := strings.Cut(string(raw[:len(raw)-lineTail]), `,"kind":"`+string(line.Kind)+`"`)
		made := forgeLine(chain, seq, line.Time, prev, string(line.Kind), rest)
		prev = string(made[len(made)-66 : len(made)-2])
		out = append(append(out, made...), '\n')
	}
	for name, data := range map[string][]byte{activeSegment: out, notesFile: nil} {
		if err := os.WriteFile(filepath.Join(dir, chain, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := remove(testStorage(t, dir), chain+"/"+endFile); err != nil {
		t.Fatal(err)
	}
}

// TestVerifyMissesACheckpointByTime removes an entry with all checkpoints and hashes the rest again.
func TestVerifyMissesACheckpointByTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		step time.Duration
		harm bool
	}{"an hour apart": {time.Hour, true}, "three seconds apart": {3 * time.Second, true}, "at the same time": {0, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, clock := t.TempDir(), newTestClock()
			l := mustOpen(t, dir, Options{Clock: clock.now})
			for i := range 3 {
				clock.move(c.step)
				appendSome(t, l, i, 1)
			}
			mustClose(t, l)
			wantOK(t, verifyDir(t, dir))
			withoutCheckpoints(t, dir, 2)
			report := verifyDir(t, dir)
			if !c.harm {
				wantOK(t, report)
				return
			}
			wantHarm(t, report, HarmCheckpointMissing, chainsOf(t, dir)[0], 1)
		})
	}
}

// TestCheckpointTimesCauseNoFalseAlarm writes ledgers whose clock is moved in every way at once, and verifies them at every moment as a
// killed writer would leave them.
func TestCheckpointTimesCauseNoFalseAlarm(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string][]time.Duration{
		"suspended":     {0, 8 * time.Hour, time.Millisecond, 8 * time.Hour},
		"clock set":     {0, time.Hour, -2 * time.Hour, time.Second, 90 * time.Minute, -time.Second, 3 * time.Second},
		"just in time":  {999 * time.Millisecond, time.Millisecond, time.Microsecond, time.Second, time.Second + time.Microsecond},
		"many segments": {time.Minute, time.Minute, time.Minute, time.Second, time.Minute, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, clock := t.TempDir(), newTestClock()
			l := mustOpen(t, dir, Options{Clock: clock.now, MaxSegmentBytes: 8 << 10, Compress: name == "many segments"})
			for i := range 40 {
				clock.move(steps[i%len(steps)])
				appendSome(t, l, i, 1+i%3)
				wantOK(t, verifyDir(t, snapshot(t, dir)))
			}
			mustClose(t, l)
			wantOK(t, verifyDir(t, dir))
		})
	}
}

// TestSlowDiskCausesNoFalseAlarm lets the clock run on by half a minute with each sync, and with each write of a checkpoint.
func TestSlowDiskCausesNoFalseAlarm(t *testing.T) {
	t.Parallel()
	dir, clock := t.TempDir(), newTestClock()
	s := newFaulty(t, dir)
	s.set(func(string, string) error {
		clock.move(30 * time.Second)
		return nil
	})
	l := mustOpen(t, dir, Options{Clock: clock.now, storage: s, MaxSegmentBytes: 8 << 10})
	for i := range 40 {
		appendSome(t, l, i, 1)
	}
	mustClose(t, l)
	wantOK(t, verifyDir(t, dir))
}

// TestSuspensionInsideABatchCausesNoFalseAlarm stops the machine for five seconds at every second look at the clock.
func TestSuspensionInsideABatchCausesNoFalseAlarm(t *testing.T) {
	t.Parallel()
	for phase := range int64(2) {
		dir, clock, looks := t.TempDir(), newTestClock(), atomic.Int64{}
		looks.Store(phase)
		l := mustOpen(t, dir, Options{Clock: func() time.Time {
			clock.move(100 * time.Millisecond)
			if looks.Add(1)%2 == 0 {
				clock.move(5 * time.Second)
			}
			return clock.now()
		}})
		for i := range 20 {
			appendSome(t, l, i, 1)
		}
		mustClose(t, l)
		wantOK(t, verifyDir(t, dir))
	}
}

// TestNoEntryWithoutTheCheckpointThatIsDue: as long as the checkpoint cannot be written, nothing is written more than a second later.
func TestNoEntryWithoutTheCheckpointThatIsDue(t *testing.T) {
	t.Parallel()
	dir, clock := t.TempDir(), newTestClock()
	s := newFaulty(t, dir)
	l := mustOpen(t, dir, Options{Clock: clock.now, storage: s})
	appendSome(t, l, 0, 1)
	s.set(func(act, name string) error {
		if act == "write" && strings.HasSuffix(name, notesFile) {
			return syscall.ENOSPC
		}
		return nil
	})
	clock.move(time.Minute)
	if _, err := l.Append(t.Context(), failure(1)); err == nil {
		t.Error("the entry was acknowledged without the checkpoint before it")
	}
	wantOK(t, verifyDir(t, snapshot(t, dir)))
	s.set(nil)
	clock.move(time.Minute)
	appendSome(t, l, 2, 1)
	mustClose(t, l)
	report := verifyDir(t, dir)
	wantOK(t, report)
	if report.Chains[0].Covered == 0 {
		t.Error("nothing is covered")
	}
}
