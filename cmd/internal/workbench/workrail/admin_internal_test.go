package workrail

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/token"
)

// opened returns the system of a server and the admin access to the same state.
func opened(t *testing.T) (*System, *Admin, string) {
	t.Helper()
	dir := t.TempDir()
	state, err := workbench.OpenState(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = state.Close() })
	s, err := New(Options{State: state})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	a, err := OpenAdmin(Options{State: state}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return s, a, dir
}

// started starts a session of an example and returns its id.
func started(t *testing.T, s *System) token.SessionID {
	t.Helper()
	reply, err := s.start(t.Context(), nil, startArgs{Workflow: "bug-hunt", Context: []byte(`{"report":"it crashes"}`)})
	if err != nil {
		t.Fatal(err)
	}
	a, ok := reply.Data.(*answer)
	if !ok {
		t.Fatalf("answered with %T", reply.Data)
	}
	id, ok := token.ParseSessionID(a.SessionID)
	if !ok {
		t.Fatalf("no session id: %q", a.SessionID)
	}
	return id
}

// tried sends a continue token without content, which is blocked and recorded.
func tried(t *testing.T, s *System, id token.SessionID) {
	t.Helper()
	text := s.keys.Mint(token.Token{Kind: token.Continue, Session: id})
	if _, err := s.advance(t.Context(), nil, continueArgs{Token: text}); err != nil {
		t.Fatal(err)
	}
}

func described(t *testing.T, a *Admin, id token.SessionID) *Info {
	t.Helper()
	info, err := a.Session(t.Context(), id.String())
	if err != nil {
		t.Fatal(err)
	}
	return &info
}

// TestStartReplacesADamagedSnapshot checks that a new session is not pinned to a copy that cannot be read.
func TestStartReplacesADamagedSnapshot(t *testing.T) {
	s, a, dir := opened(t)
	first := described(t, a, started(t, s))
	name := filepath.Join(dir, "snapshots", first.Hash+".json")
	if err := os.WriteFile(name, []byte(`{"id":`), 0o600); err != nil {
		t.Fatal(err)
	}
	id := started(t, s)
	if _, err := s.snapshots.load(first.Hash); err != nil {
		t.Errorf("after another start: %v", err)
	}
	tried(t, s, id)
	if got := described(t, a, id).Blocked; slices.Contains(got, "STORAGE_CORRUPTION_DETECTED") {
		t.Errorf("blocked by %q", got)
	}
}

// TestRemoveSessionKeepsOneThatIsContinued checks that a session is removed only in the state that the operator was
// shown.
func TestRemoveSessionKeepsOneThatIsContinued(t *testing.T) {
	s, a, _ := opened(t)
	id := started(t, s)
	g, err := a.Garbage(t.Context(), Retention{Before: time.Now().Add(time.Hour)}, nil)
	if err != nil || len(g.Sessions) != 1 || len(g.Snapshots) != 1 {
		t.Fatalf("%+v, %v", g, err)
	}
	tried(t, s, id)
	if err := a.RemoveSession(t.Context(), &g.Sessions[0]); !errors.Is(err, ErrChanged) {
		t.Errorf("got %v", err)
	}
	if removed, err := a.RemoveSnapshots(t.Context(), g.Snapshots); removed != 0 || err != nil {
		t.Errorf("removed %d, %v", removed, err)
	}
	if info := described(t, a, id); info.State != StateBlocked {
		t.Errorf("state %s", info.State)
	}
	if err := a.RemoveSession(t.Context(), described(t, a, id)); err != nil {
		t.Error(err)
	}
	if removed, err := a.RemoveSnapshots(t.Context(), g.Snapshots); removed != 1 || err != nil {
		t.Errorf("removed %d, %v", removed, err)
	}
}

// TestRetention checks that age counts from the last change, and that completed, damaged and named sessions are
// distinguished.
func TestRetention(t *testing.T) {
	old, young := time.Now().Add(-100*24*time.Hour), time.Now()
	of := func(id string, state State, updated time.Time) *Info {
		return &Info{Summary: Summary{ID: id, Updated: updated}, State: state}
	}
	before := time.Now().Add(-90 * 24 * time.Hour)
	for name, tc := range map[string]struct {
		r    Retention
		info *Info
		want bool
	}{
		"old completed":           {Retention{Before: before}, of("1", StateCompleted, old), true},
		"old open":                {Retention{Before: before}, of("1", StateOpen, old), true},
		"old blocked":             {Retention{Before: before}, of("1", StateBlocked, old), true},
		"young completed":         {Retention{Before: before}, of("1", StateCompleted, young), false},
		"exactly as old":          {Retention{Before: before}, of("1", StateOpen, before), false},
		"old damaged":             {Retention{Before: before}, of("1", StateDamaged, old), false},
		"completed only":          {Retention{Before: before, Completed: true}, of("1", StateOpen, old), false},
		"named, young":            {Retention{Before: before, IDs: []string{"1"}}, of("1", StateOpen, young), true},
		"named, damaged":          {Retention{Before: before, IDs: []string{"1"}}, of("1", StateDamaged, young), true},
		"another is named, old":   {Retention{Before: before, IDs: []string{"2"}}, of("1", StateOpen, old), false},
		"completed only, and old": {Retention{Before: before, Completed: true}, of("1", StateCompleted, old), true},
	} {
		if got := tc.r.removes(tc.info); got != tc.want {
			t.Errorf("%s: removed %v", name, got)
		}
	}
}

// TestGCWhileServersWork removes sessions and stored workflows while others start and list sessions, and checks that no
// session loses its workflow or looks damaged.
func TestGCWhileServersWork(t *testing.T) {
	s, a, _ := opened(t)
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	var servers sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		servers.Go(func() {
			for range 10 {
				id := started(t, s)
				info := described(t, a, id)
				if _, err := s.snapshots.load(info.Hash); err != nil {
					t.Errorf("a session has lost its workflow: %v", err)
				}
				if err := a.RemoveSession(ctx, info); err != nil {
					t.Error(err)
				}
			}
		})
	}
	var people sync.WaitGroup
	until := func(do func()) {
		people.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					do()
				}
			}
		})
	}
	until(func() {
		hashes, err := a.unused(nil)
		if err == nil {
			_, err = a.RemoveSnapshots(ctx, hashes)
		}
		if err != nil {
			t.Error(err)
		}
	})
	until(func() {
		all, _, err := s.open(ctx)
		if err != nil {
			t.Error(err)
		}
		for _, one := range all {
			if one.Health != "healthy" {
				t.Errorf("session %s looks %s", one.ID, one.Health)
			}
		}
	})
	servers.Wait()
	close(done)
	people.Wait()
}

// TestListSurvivesAnUnreadableSession checks that a session whose files cannot be read does not hide the others.
func TestListSurvivesAnUnreadableSession(t *testing.T) {
	s, a, dir := opened(t)
	broken, fine := started(t, s), started(t, s)
	folder := filepath.Join(dir, "sessions", broken.String())
	if err := os.Rename(filepath.Join(folder, "events"), filepath.Join(folder, "moved")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "events"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	all, _, err := s.open(t.Context())
	slices.SortFunc(all, func(a, b Summary) int { return b.Updated.Compare(a.Updated) })
	if err != nil || len(all) != 2 || all[0].ID != fine.String() || all[0].Health != "healthy" || all[1].Health == "healthy" {
		t.Errorf("got %+v, %v", all, err)
	}
	if info := described(t, a, broken); info.State != StateDamaged {
		t.Errorf("state %s", info.State)
	}
	d, err := a.Diagnose(t.Context(), nil, nil)
	if err != nil || d.Sessions != 2 || d.Healthy != 1 || len(d.Findings) != 1 || d.Findings[0].Kind != FindingSession {
		t.Errorf("got %+v, %v", d, err)
	}
}

// TestAdminStopsWhenItIsInterrupted checks that a cancelled context stops each long operation at the next session.
func TestAdminStopsWhenItIsInterrupted(t *testing.T) {
	s, a, _ := opened(t)
	info := described(t, a, started(t, s))
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for range 20 { // a select may take either case
		if _, err := a.Sessions(ctx, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("Sessions: %v", err)
		}
		if _, err := a.Diagnose(ctx, nil, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("Diagnose: %v", err)
		}
		if _, err := a.Garbage(ctx, Retention{}, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("Garbage: %v", err)
		}
		if _, err := a.RemoveSnapshots(ctx, []string{info.Hash}); !errors.Is(err, context.Canceled) {
			t.Errorf("RemoveSnapshots: %v", err)
		}
	}
}
