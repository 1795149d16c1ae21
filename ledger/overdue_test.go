package ledger_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/testing/forge"
	"github.com/candor-mcp/candor/ledger"
)

// testClock is a clock that changes only when it is set.
type testClock struct{ micros atomic.Int64 }

func newTestClock() *testClock {
	c := &testClock{}
	c.micros.Store(time.Date(2026, 11, 15, 4, 5, 6, 0, time.UTC).UnixMicro())
	return c
}

func (c *testClock) now() time.Time       { return time.UnixMicro(c.micros.Load()) }
func (c *testClock) move(d time.Duration) { c.micros.Add(d.Microseconds()) }

// withoutCheckpoints removes all checkpoints from the only chain of a folder and links the other entries again.
func withoutCheckpoints(t *testing.T, dir string, drop int64) {
	t.Helper()
	chain := ledger.ChainsOf(t, dir)[0]
	sum := format.Genesis(chain)
	prev, seq := sum.String(), int64(0)
	var out []byte
	for i, raw := range bytes.Split(bytes.TrimSpace(ledger.FileOf(t, dir, chain, format.ActiveSegment)), []byte("\n")) {
		line, err := ledger.ParseLine(raw)
		if err != nil {
			t.Fatal(err)
		}
		if line.Kind == ledger.KindCheckpoint || int64(i)+1 == drop {
			continue
		}
		seq++
		_, rest, _ := strings.Cut(string(raw[:len(raw)-format.LineTail]), `,"kind":"`+string(line.Kind)+`"`)
		made := forge.Line(chain, seq, line.Time, prev, string(line.Kind), rest)
		prev = string(made[len(made)-66 : len(made)-2])
		out = append(append(out, made...), '\n')
	}
	for name, data := range map[string][]byte{format.ActiveSegment: out, format.CheckpointsFile: nil} {
		if err := os.WriteFile(filepath.Join(dir, chain, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(dir, chain, format.EndFile)); err != nil {
		t.Fatal(err)
	}
}

// TestVerifyFindsMissingCheckpointByTime removes an entry and all checkpoints, and hashes the other entries again.
func TestVerifyFindsMissingCheckpointByTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		step   time.Duration
		damage bool
	}{"an hour apart": {time.Hour, true}, "three seconds apart": {3 * time.Second, true}, "at the same time": {0, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, clock := t.TempDir(), newTestClock()
			l := mustOpen(t, dir, ledger.Options{Clock: clock.now})
			for i := range 3 {
				clock.move(c.step)
				appendSome(t, l, i, 1)
			}
			mustClose(t, l)
			reportOK(t, verifyDir(t, dir))
			withoutCheckpoints(t, dir, 2)
			report := verifyDir(t, dir)
			if !c.damage {
				reportOK(t, report)
				return
			}
			reportDamage(t, report, "checkpoint-missing", ledger.ChainsOf(t, dir)[0], 1)
		})
	}
}

// TestAppendFailsIfDueCheckpointFails checks that while the checkpoint cannot be written, no entry is written
// more than a second later.
func TestAppendFailsIfDueCheckpointFails(t *testing.T) {
	t.Parallel()
	dir, clock := t.TempDir(), newTestClock()
	s := ledger.NewFaulty(t, dir)
	l := mustOpen(t, dir, ledger.Options{Clock: clock.now}.WithStorage(s, nil))
	appendSome(t, l, 0, 1)
	s.Set(func(act, name string) error {
		if act == "write" && strings.HasSuffix(name, format.CheckpointsFile) {
			return syscall.ENOSPC
		}
		return nil
	})
	clock.move(time.Minute)
	if _, err := l.Append(t.Context(), failure(1)); err == nil {
		t.Error("the entry was acknowledged without the checkpoint before it")
	}
	reportOK(t, verifyDir(t, snapshot(t, dir)))
	s.Set(nil)
	clock.move(time.Minute)
	appendSome(t, l, 2, 1)
	mustClose(t, l)
	report := verifyDir(t, dir)
	reportOK(t, report)
	if report.Chains[0].Covered == 0 {
		t.Error("nothing is covered")
	}
}
