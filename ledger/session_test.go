package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/dual"
	"github.com/candor-mcp/candor/ledger"
)

func openSessions(t testing.TB, dir string, l *ledger.Ledger) *ledger.Sessions {
	t.Helper()
	s, err := ledger.OpenSessions(dir, l)
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

// sessionEntry returns an entry that is bound to a session.
func sessionEntry(id string, i int) ledger.Entry {
	e := failure(i)
	e.SessionID = id
	return e
}

func TestD11RootOfUnknownAndOpenSession(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	l := mustOpen(t, dir, ledger.Options{})
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
	if _, err := l.Append(ctx, sessionEntry("a", 1)); err != nil {
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

// TestD11DoubleFinalisationIsRefusedUnderConcurrency finalises a session from many callers in two writers of one
// folder. Exactly one succeeds.
func TestD11DoubleFinalisationIsRefusedUnderConcurrency(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	var all []*ledger.Sessions
	for i := range 2 {
		l := mustOpen(t, dir, ledger.Options{Instance: fmt.Sprintf("w%d", i)})
		defer mustClose(t, l)
		all = append(all, openSessions(t, dir, l))
		if i == 0 {
			if err := all[0].Begin(ctx, "s"); err != nil {
				t.Fatal(err)
			}
		}
		for n := range 5 {
			if _, err := l.Append(ctx, sessionEntry("s", n)); err != nil {
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

// dying is an [ledger.Appender] that fails just before or just after the entry is written, like a process that is
// killed then.
type dying struct {
	l     *ledger.Ledger
	after bool
}

func (d dying) Append(ctx context.Context, e ledger.Entry) (ledger.Receipt, error) {
	if d.after {
		if _, err := d.l.Append(ctx, e); err != nil {
			return ledger.Receipt{}, err
		}
	}
	return ledger.Receipt{}, errors.New("killed")
}

// TestD16RestartDuringFinalise checks that a session is either open or finalised after a
// kill before or after the entry.
func TestD16RestartDuringFinalise(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, after := range []bool{false, true} {
		dir := t.TempDir()
		l := mustOpen(t, dir, ledger.Options{})
		if err := openSessions(t, dir, l).Begin(ctx, "s"); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Append(ctx, sessionEntry("s", 1)); err != nil {
			t.Fatal(err)
		}
		interrupted, err := ledger.OpenSessions(dir, dying{l, after})
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

		l = mustOpen(t, dir, ledger.Options{})
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
		reportOK(t, verifyDir(t, dir))
	}
}
