package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/dual"
)

func openSessions(t testing.TB, dir string, l *Ledger) *Sessions {
	t.Helper()
	s, err := OpenSessions(dir, l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func wantCode(t testing.TB, err error, code candor.Code) {
	t.Helper()
	var e *candor.Error
	if !errors.As(err, &e) || e.Code() != code {
		t.Errorf("got %v, want %s", err, code)
	}
}

// inSession is an entry bound to a session.
func inSession(id string, i int) Entry {
	e := failure(i)
	e.SessionID = id
	return e
}

func TestD11RootTellsUnknownFromNotFinalised(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	l := mustOpen(t, dir, Options{})
	defer mustClose(t, l)
	s := openSessions(t, dir, l)
	_, _, err := s.Root(ctx, "a")
	wantCode(t, err, dual.SessionNotFound)
	_, _, err = s.Finalise(ctx, "a")
	wantCode(t, err, dual.SessionNotFound)
	if err := s.Begin(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	wantCode(t, s.Begin(ctx, "a"), dual.SessionExists)
	wantCode(t, s.Begin(ctx, ""), dual.InvalidParams)
	_, _, err = s.Root(ctx, "a")
	wantCode(t, err, dual.NotFinalized)
	_, _, err = s.Finalise(ctx, "a")
	wantCode(t, err, dual.NoRecords)
	if _, err := l.Append(ctx, inSession("a", 1)); err != nil {
		t.Fatal(err)
	}
	root, count, err := s.Finalise(ctx, "a")
	if err != nil || count != 1 {
		t.Fatal(count, err)
	}
	_, _, err = s.Finalise(ctx, "a")
	wantCode(t, err, dual.AlreadyFinalized)
	wantCode(t, s.Begin(ctx, "a"), dual.SessionExists)
	if again, n, err := s.Root(ctx, "a"); err != nil || again != root || n != 1 {
		t.Error(again, n, err)
	}
}

// TestD11DoubleFinalisationIsRefusedUnderConcurrency: many callers in two writers of one folder; one of them succeeds.
func TestD11DoubleFinalisationIsRefusedUnderConcurrency(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	var all []*Sessions
	for i := range 2 {
		l := mustOpen(t, dir, Options{Instance: fmt.Sprintf("w%d", i)})
		defer mustClose(t, l)
		all = append(all, openSessions(t, dir, l))
		if i == 0 {
			if err := all[0].Begin(ctx, "s"); err != nil {
				t.Fatal(err)
			}
		}
		for n := range 5 {
			if _, err := l.Append(ctx, inSession("s", n)); err != nil {
				t.Fatal(err)
			}
		}
	}
	var won, lost atomic.Int32
	var wait sync.WaitGroup
	for i := range 16 {
		wait.Go(func() {
			_, count, err := all[i%2].Finalise(ctx, "s")
			var e *candor.Error
			switch {
			case err == nil && count == 10:
				won.Add(1)
			case errors.As(err, &e) && e.Code() == dual.AlreadyFinalized:
				lost.Add(1)
			default:
				t.Errorf("count %d, %v", count, err)
			}
		})
	}
	wait.Wait()
	if won.Load() != 1 || lost.Load() != 15 {
		t.Errorf("%d succeeded, %d were refused", won.Load(), lost.Load())
	}
	a, _, errA := all[0].Root(ctx, "s")
	b, _, errB := all[1].Root(ctx, "s")
	if a != b || errA != nil || errB != nil {
		t.Error(a, b, errA, errB)
	}
}

// dying fails instead of writing, like a process that is killed just before or just after the entry.
type dying struct {
	l     *Ledger
	after bool
}

func (d dying) Append(ctx context.Context, e Entry) (Receipt, error) {
	if d.after {
		if _, err := d.l.Append(ctx, e); err != nil {
			return Receipt{}, err
		}
	}
	return Receipt{}, errors.New("killed")
}

// TestD16ARestartInTheMiddleOfFinaliseLeavesNoHalfState: whichever side of the one entry the kill comes on, the session is open or finalised.
func TestD16ARestartInTheMiddleOfFinaliseLeavesNoHalfState(t *testing.T) {
	ctx := context.Background()
	for _, after := range []bool{false, true} {
		dir := t.TempDir()
		l := mustOpen(t, dir, Options{})
		if err := openSessions(t, dir, l).Begin(ctx, "s"); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Append(ctx, inSession("s", 1)); err != nil {
			t.Fatal(err)
		}
		interrupted, err := OpenSessions(dir, dying{l, after})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := interrupted.Finalise(ctx, "s"); err == nil {
			t.Fatal("it did not die")
		}
		if err := interrupted.Close(); err != nil {
			t.Fatal(err)
		}
		mustClose(t, l)

		l = mustOpen(t, dir, Options{})
		s := openSessions(t, dir, l)
		_, _, err = s.Root(ctx, "s")
		if after {
			if err != nil {
				t.Error(err)
			}
			_, _, err = s.Finalise(ctx, "s")
			wantCode(t, err, dual.AlreadyFinalized)
		} else {
			wantCode(t, err, dual.NotFinalized)
			if _, count, err := s.Finalise(ctx, "s"); err != nil || count != 1 {
				t.Error(count, err)
			}
		}
		mustClose(t, l)
		wantOK(t, verifyDir(t, dir))
	}
}

// TestSessionProofNeedsOnlyTheKey proves each entry of a session over two chains and a rotation, and checks it without the ledger.
func TestSessionProofNeedsOnlyTheKey(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	a, b := mustOpen(t, dir, Options{Instance: "a", MaxSegmentBytes: 4 << 10}), mustOpen(t, dir, Options{Instance: "b"})
	s := openSessions(t, dir, a)
	if err := s.Begin(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	var receipts []Receipt
	for i := range 20 {
		for _, l := range []*Ledger{a, b} {
			r, err := l.Append(ctx, inSession("s", i))
			if err != nil {
				t.Fatal(err)
			}
			receipts = append(receipts, r)
			if _, err := l.Append(ctx, inSession("other", i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, count, err := s.Finalise(ctx, "s"); err != nil || count != int64(len(receipts)) {
		t.Fatal(count, err)
	}
	if _, err := a.Append(ctx, inSession("s", 99)); err != nil { // too late: it is not in the root
		t.Fatal(err)
	}
	public := a.PublicKey()
	mustClose(t, a)
	mustClose(t, b)
	for _, r := range receipts {
		proof, err := s.Prove(ctx, "s", r.Chain, r.Seq)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(proof)
		if err != nil {
			t.Fatal(err)
		}
		read, err := ReadProof(data)
		if err != nil {
			t.Fatal(err)
		}
		proven, err := CheckProof(read, public)
		if err != nil || proven.Record.Seq != r.Seq || proven.SessionID != "s" || proven.SessionLen != 40 {
			t.Fatal(err, proven)
		}
		read.Session.Index = (read.Session.Index + 1) % 40
		if _, err := CheckProof(read, public); err == nil {
			t.Error("a proof holds for another place")
		}
	}
	if _, err := s.Prove(ctx, "s", receipts[0].Chain, 1); !errors.Is(err, ErrNoEntry) {
		t.Error(err)
	}
}

// TestProofVerifiesWithOnlyProofEntryAndKey proves every covered entry of a chain, and no bit of a proof can be changed.
func TestProofVerifiesWithOnlyProofEntryAndKey(t *testing.T) {
	f := newForge(t)
	c := f.chain()
	c.fail(37)
	c.checkpoint(false)
	c.fail(1)
	files := f.fs()
	for seq := uint64(1); seq <= 38; seq++ {
		p, err := prove(files, c.name, seq)
		if err != nil {
			t.Fatal(err)
		}
		proven, err := CheckProof(p, f.public)
		if err != nil || proven.Record.Seq != seq || proven.Size != 38 {
			t.Fatal(err, proven)
		}
	}
	for seq, want := range map[uint64]error{39: ErrNotCovered, 40: ErrNotCovered, 41: ErrNoEntry, 0: ErrNoEntry} {
		if _, err := prove(files, c.name, seq); !errors.Is(err, want) {
			t.Errorf("entry %d: %v, want %v", seq, err, want)
		}
	}
	p, err := prove(files, c.name, 7)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		if i%sweepStep(3, 8) != 0 {
			continue
		}
		for bit := range 8 {
			changed := bytes.Clone(data)
			changed[i] ^= 1 << bit
			read, err := ReadProof(changed)
			if err != nil {
				continue
			}
			again, _ := json.Marshal(read)
			if _, err := CheckProof(read, f.public); err == nil && !bytes.Equal(again, data) {
				t.Errorf("bit %d of byte %d: the changed proof holds: %s", bit, i, changed[max(0, i-20):i+1])
			}
		}
	}
	if _, err := CheckProof(p, newOtherKey(t)); err == nil || !strings.Contains(err.Error(), "nobody vouches") {
		t.Error(err)
	}
	if _, err := CheckProof(p); err == nil {
		t.Error("no key proves something")
	}
}

func newOtherKey(t testing.TB) string {
	dir := t.TempDir()
	l := mustOpen(t, dir, Options{})
	mustClose(t, l)
	return l.PublicKey()
}

// TestTailFollowsRotationAndNewChains reads along while chains are rotated, closed and begun.
func TestTailFollowsRotationAndNewChains(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir, Options{MaxSegmentBytes: 4 << 10, Compress: true})
	r, err := OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	const total = 200
	got := make(chan string, 2*total)
	go func() {
		defer close(got)
		keep := func(l *Line) bool { return l.Kind == KindFailure }
		for line, err := range r.Entries(ctx, ReadOptions{Follow: true, Poll: 2 * time.Millisecond, Keep: keep}) {
			if err != nil {
				t.Error(err)
				return
			}
			record, err := line.Record()
			if err != nil {
				t.Error(err)
			}
			got <- record.Ref
		}
	}()
	for i := range total {
		appendSome(t, l, i, 1)
		if i == total/2 {
			mustClose(t, l)
			l = mustOpen(t, dir, Options{Instance: "next", MaxSegmentBytes: 4 << 10})
		}
	}
	mustClose(t, l)
	for i := range total {
		if ref := <-got; ref != fmt.Sprintf("ref-%d", i) {
			t.Fatalf("entry %d is %q", i, ref)
		}
	}
	cancel()
	if extra, open := <-got; open {
		t.Errorf("one too many: %s", extra)
	}
}

func TestLastEntriesComeFromTheEnd(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir, Options{MaxSegmentBytes: 4 << 10})
	appendSome(t, l, 0, 100)
	mustClose(t, l)
	r, err := OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	for _, n := range []int{1, 3, 20, 60, 1000} {
		var refs []string
		for line, err := range r.Entries(context.Background(), ReadOptions{Last: n, Keep: func(l *Line) bool { return l.Kind == KindFailure }}) {
			if err != nil {
				t.Fatal(err)
			}
			record, err := line.Record()
			if err != nil {
				t.Fatal(err)
			}
			refs = append(refs, record.Ref)
		}
		if len(refs) != min(n, 100) || refs[len(refs)-1] != "ref-99" || refs[0] != fmt.Sprintf("ref-%d", 100-len(refs)) {
			t.Errorf("the last %d are %v", n, refs)
		}
	}
}

func TestASegmentThatIsNoFileDoesNotHangAReader(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir, Options{})
	last := appendSome(t, l, 0, 1)
	mustClose(t, l)
	name := filepath.Join(dir, last.Chain, activeName)
	if err := errors.Join(os.Remove(name), os.Mkdir(name, 0o700)); err != nil {
		t.Fatal(err)
	}
	if r := verifyDir(t, dir); r.OK {
		t.Error("a folder passes for a segment")
	}
}
