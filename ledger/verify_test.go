package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/ledger/verify"
)

// failure returns an entry as a gateway would write it.
func failure(i int) ledger.Entry {
	e := ledger.EntryOf(candor.New(kaiza.FileNotFound, "No such file.", candor.WithTool("read_file"), candor.WithRef(fmt.Sprintf("ref-%d", i)),
		candor.WithSession(fmt.Sprintf("s-%d", i%3), "planner", "")))
	e.Call, e.Args, e.Latency = fmt.Sprintf("call-%d", i), []byte(`{"path":"a"}`), time.Millisecond
	e.Upstream = []byte(strings.Repeat("upstream said no. ", i%7))
	return e
}

func mustOpen(t testing.TB, dir string, o ledger.Options) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(dir, o)
	if err != nil {
		var why *candor.Error
		errors.As(err, &why)
		t.Fatal(err, why.Unwrap())
	}
	return l
}

func mustClose(t testing.TB, l *ledger.Ledger) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func appendSome(t testing.TB, l *ledger.Ledger, from, n int) (last ledger.Receipt) {
	t.Helper()
	for i := from; i < from+n; i++ {
		r, err := l.Append(context.Background(), failure(i))
		if err != nil {
			t.Fatal(err)
		}
		last = r
	}
	return last
}

// snapshot copies a folder as it is on the disk, which is the state after a kill.
func snapshot(t testing.TB, dir string) string {
	t.Helper()
	for range 10 {
		to := t.TempDir()
		err := os.CopyFS(to, os.DirFS(dir))
		if err == nil {
			return to
		}
		if !errors.Is(err, fs.ErrNotExist) { // a segment was compressed meanwhile
			t.Fatal(err)
		}
	}
	t.Fatal("no copy could be made")
	return ""
}

func verifyDir(t testing.TB, dir string, second ...string) verify.Report {
	t.Helper()
	r, err := verify.Dir(context.Background(), dir, verify.Options{WitnessCopies: second})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestK16WrittenLedgerVerifies verifies a ledger after rotation, compression, kills, recovery and retention.
func TestK16WrittenLedgerVerifies(t *testing.T) {
	dir, second := t.TempDir(), filepath.Join(t.TempDir(), "second")
	o := ledger.Options{Instance: "real", WitnessCopy: second, MaxSegmentBytes: 8 << 10}
	l := mustOpen(t, dir, o)
	appendSome(t, l, 0, 300)
	reportOK(t, verifyDir(t, dir, second)) // while it is being written
	killed := snapshot(t, dir)
	appendSome(t, l, 300, 50)
	mustClose(t, l)
	r := verifyDir(t, dir, second)
	reportOK(t, r)
	if len(r.Chains) != 1 || !r.Chains[0].Closed || r.Chains[0].Entries < 350 || r.Chains[0].Witnessed+1 != r.Chains[0].Size {
		t.Errorf("%+v", r.Chains)
	}

	later := second + ".later"
	if err := os.Rename(second, later); err != nil { // it covers entries that the copy never had
		t.Fatal(err)
	}
	second = later
	reportOK(t, verifyDir(t, killed)) // not recovered yet
	tear(t, killed)
	reportOK(t, verifyDir(t, killed))
	o.WitnessCopy, o.Compress = "", true
	l = mustOpen(t, killed, o)
	appendSome(t, l, 0, 10)
	mustClose(t, l)
	r = verifyDir(t, killed)
	reportOK(t, r)
	if len(r.Chains) != 2 || r.Chains[0].Recovered != r.Chains[1].Chain {
		t.Errorf("%+v", r.Chains)
	}
	reportDamage(t, verifyDir(t, killed, second), "truncated", r.Chains[0].Chain, r.Chains[0].Size+1)
}

// tear appends an incomplete line to every active segment.
func tear(t testing.TB, dir string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*", format.ActiveSegment))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data[:len(data)-20], 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestVerifyDuringWrites verifies a ledger repeatedly while two writers with four callers each append to it.
func TestVerifyDuringWrites(t *testing.T) {
	t.Parallel()
	dir, second := t.TempDir(), filepath.Join(t.TempDir(), "second")
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	started := make(chan struct{}, 2)
	for w := range 2 {
		wait.Go(func() {
			for first := true; ctx.Err() == nil; first = false {
				l, err := ledger.Open(dir, ledger.Options{Instance: fmt.Sprintf("w%d", w), WitnessCopy: second, MaxSegmentBytes: 32 << 10, Compress: true})
				if err != nil {
					t.Error(err)
					return
				}
				var callers sync.WaitGroup
				for range 4 {
					callers.Go(func() {
						for i := range 150 {
							if _, err := l.Append(context.Background(), failure(i)); err != nil {
								t.Error(err)
								return
							}
						}
					})
				}
				callers.Wait()
				if err := l.Close(); err != nil {
					t.Error(err)
				}
				if first {
					started <- struct{}{} // the witness copy exists
				}
			}
		})
	}
	<-started
	<-started
	rounds := 12
	if testing.Short() {
		rounds = 5
	}
	for range rounds {
		r, err := verify.Dir(context.Background(), dir, verify.Options{WitnessCopies: []string{second}})
		if err != nil || !r.OK {
			t.Errorf("%v %v", err, r.Damage)
			break
		}
	}
	cancel()
	wait.Wait()
	reportOK(t, verifyDir(t, dir, second))
}

// reportOK fails the test unless the report is clean.
func reportOK(t *testing.T, r verify.Report) {
	t.Helper()
	if !r.OK || len(r.Damage) > 0 {
		t.Fatalf("false alarm: %v", r.Damage)
	}
}

// reportDamage fails the test unless the first damage is of that kind, at that entry of that chain.
func reportDamage(t *testing.T, r verify.Report, kind string, chain string, seq uint64) {
	t.Helper()
	if r.OK || len(r.Damage) == 0 {
		t.Fatalf("%s at %s/%d was not found", kind, chain, seq)
	}
	h := r.Damage[0]
	if h.Kind != kind || h.Chain != chain || h.Seq != seq {
		t.Errorf("found %v, want %s at %s/%d", h, kind, chain, seq)
	}
}
