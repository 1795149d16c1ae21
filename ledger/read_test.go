package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/ledger"
)

// TestFollowRotationAndNewChains follows the entries while chains are rotated, closed and begun.
func TestFollowRotationAndNewChains(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := mustOpen(t, dir, ledger.Options{MaxSegmentBytes: 4 << 10, Compress: true})
	r, err := ledger.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	const total = 200
	got := make(chan string, 2*total)
	go func() {
		defer close(got)
		keep := func(l *ledger.Line) bool { return l.Kind == ledger.KindFailure }
		for line, err := range r.Entries(ctx, ledger.ReadOptions{Follow: true, Poll: 2 * time.Millisecond, Keep: keep}) {
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
			l = mustOpen(t, dir, ledger.Options{Instance: "next", MaxSegmentBytes: 4 << 10})
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

func TestReadLastEntries(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := mustOpen(t, dir, ledger.Options{MaxSegmentBytes: 4 << 10})
	appendSome(t, l, 0, 100)
	mustClose(t, l)
	r, err := ledger.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	for _, n := range []int{1, 3, 20, 60, 1000} {
		var refs []string
		for line, err := range r.Entries(context.Background(), ledger.ReadOptions{Last: n, Keep: func(l *ledger.Line) bool { return l.Kind == ledger.KindFailure }}) {
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

func TestReaderSkipsSegmentThatIsNotAFile(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir, ledger.Options{})
	last := appendSome(t, l, 0, 1)
	mustClose(t, l)
	name := filepath.Join(dir, last.Chain, format.ActiveSegment)
	if err := errors.Join(os.Remove(name), os.Mkdir(name, 0o700)); err != nil {
		t.Fatal(err)
	}
	if r := verifyDir(t, dir); r.OK {
		t.Error("a folder passes for a segment")
	}
}
