package workrail

import (
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/token"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
)

// opened returns the system of a server and its state folder.
func opened(t *testing.T) (*System, string) {
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
	return s, dir
}

// started starts a session of an example and returns its id.
func started(t *testing.T, s *System) token.SessionID {
	t.Helper()
	reply, err := s.start(t.Context(), nil, startArgs{Workflow: "bug-hunt", Context: []byte(`{"report":"it crashes","capabilities":{"shell":true}}`)})
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

// TestListSurvivesAnUnreadableSession checks that a session with unreadable files does not hide the others.
func TestListSurvivesAnUnreadableSession(t *testing.T) {
	s, dir := opened(t)
	broken, fine := started(t, s), started(t, s)
	folder := filepath.Join(dir, "sessions", broken.String())
	if err := os.Rename(filepath.Join(folder, "events"), filepath.Join(folder, "moved")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "events"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	all, _, err := s.open(t.Context(), "")
	slices.SortFunc(all, func(a, b Info) int { return b.Updated.Compare(a.Updated) })
	if err != nil || len(all) != 2 || all[0].ID != fine.String() || all[0].Health != "healthy" || all[1].Health == "healthy" {
		t.Errorf("got %+v, %v", all, err)
	}
	if info, err := s.Session(t.Context(), broken.String()); err != nil || info.State != StateDamaged {
		t.Errorf("state %s, %v", info.State, err)
	}
}

// TestFilesAreParsedOnce checks that a call uses the workflows that the last one read, and that a changed file is read
// again.
func TestFilesAreParsedOnce(t *testing.T) {
	t.Parallel()
	s, _ := opened(t)
	dir := t.TempDir()
	s.o.Workflows = dir
	parse := func(text string) *workflow.Workflow {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "w.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		files, err := s.files(t.Context())
		if err != nil || len(files) != 1 || files[0].workflow == nil {
			t.Fatalf("%v, %v", files, err)
		}
		return files[0].workflow
	}
	const text = "id: w\nname: W\nsteps: [{id: a, prompt: p}]\n"
	first, second, changed := parse(text), parse(text), parse(text+"version: x\n")
	if first != second {
		t.Error("an unchanged file was parsed again")
	}
	if changed.Version != "x" {
		t.Error("a changed file was not read")
	}
}

// TestFilesAreParsedOneAtATime checks that a call waits for another one that parses, because each may take 100 MiB.
func TestFilesAreParsedOneAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := opened(t)
		s.o.Workflows = t.TempDir()
		s.parsing <- struct{}{}
		var done atomic.Int32
		go func() {
			_, err := s.files(t.Context())
			done.Add(1)
			if err != nil {
				t.Error(err)
			}
		}()
		go func() {
			_, err := s.validate(t.Context(), nil, validateArgs{Content: "id: w"})
			done.Add(1)
			if err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		if n := done.Load(); n != 0 {
			t.Errorf("%d calls did not wait", n)
		}
		<-s.parsing
		synctest.Wait()
		if n := done.Load(); n != 2 {
			t.Errorf("%d of 2 calls have ended", n)
		}
	})
}
