package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// everything returns one change of each sort: replaced, created, created in new folders, deleted.
func (b *bench) everything() []Change {
	b.put("old", "before")
	b.put("d/gone", "going")
	b.must(os.Chmod(filepath.Join(b.in, "old"), 0o640))
	b.must(os.Chmod(filepath.Join(b.in, "d/gone"), 0o755))
	return []Change{
		{Path: b.path("old"), Before: b.read("old"), After: []byte("after")},
		{Path: b.path("new"), After: []byte("made")},
		{Path: b.path("x/y/new"), After: []byte("deep"), MakeDirs: true},
		{Path: b.path("x/z"), After: nil, MakeDirs: true},
		{Path: b.path("d/gone"), Before: b.read("d/gone"), Delete: true},
	}
}

func (b *bench) side() string {
	mode := "-"
	if info, err := os.Stat(filepath.Join(b.in, "d/gone")); err == nil {
		mode = info.Mode().String()
	}
	_, err := os.Stat(filepath.Join(b.in, "x"))
	return fmt.Sprint(b.text("old"), " ", b.text("new"), " ", b.text("x/y/new"), " ", b.text("x/z"), " ", b.text("d/gone"), " ", mode, " ", err == nil)
}

const (
	sideBefore = "before - - - going -rwxr-xr-x false"
	sideAfter  = "after made deep  - - true"
)

func TestAChangeIsDoneAsAWholeAndCanBeUndone(t *testing.T) {
	b := newBenchIn(t, t.TempDir(), Options{}) // on a real disk
	s := b.stage("one", b.everything()...)
	if got := b.side(); got != sideBefore {
		t.Fatalf("staged, and already %s", got)
	}
	b.must(s.Commit(context.Background()))
	if got := b.side(); got != sideAfter {
		t.Fatalf("committed: %s", got)
	}
	if info, err := os.Stat(filepath.Join(b.in, "old")); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	b.noTemps()
	b.must(s.Undo(false))
	if got := b.side(); got != sideBefore {
		t.Fatalf("undone: %s", got)
	}
	b.must(s.Undo(false))
	if err := s.Commit(context.Background()); candor.CodeOf(err) != kaiza.InternalError {
		t.Errorf("committed twice: %v", err)
	}
	b.must(s.Done())
	b.clean()
}

func TestForbiddenChangeIsRefusedBeforeWriting(t *testing.T) {
	b := newBench(t, Options{MaxFile: 10})
	b.put("a", "x")
	b.put("ro", "x")
	b.must(os.Chmod(filepath.Join(b.in, "ro"), 0o444))
	b.put("shut/a", "x")
	b.must(os.Chmod(filepath.Join(b.in, "shut"), 0o555))
	b.put("real/a", "x")
	b.symlink("a", "near")
	b.symlink("real", "linked")
	b.symlink("../outside/secret.txt", "out")
	b.symlink("../outside", "door")
	b.symlink("nothing", "dangling")
	b.must(os.Link(filepath.Join(b.in, "real/a"), filepath.Join(b.in, "hard")))
	x := &File{Hash: Hash([]byte("x"))}
	long := strings.Repeat("y", 11)
	for i, c := range []struct {
		name   string
		change Change
		want   candor.Code
	}{
		{"a", Change{}, kaiza.FileAlreadyExists},
		{"a", Change{Before: &File{Hash: Hash([]byte("other"))}}, kaiza.HashMismatch},
		{"a", Change{Before: x, After: []byte(long)}, kaiza.InvalidInputValue},
		{"a", Change{Delete: true}, kaiza.InvalidInputValue},
		{"none", Change{Before: x}, kaiza.FileNotFound},
		{"none/a", Change{}, kaiza.PathNotFound},
		{"none/a", Change{Before: x, MakeDirs: true}, kaiza.PathNotFound},
		{"a/b", Change{}, kaiza.PathNotFound},
		{"a/b", Change{MakeDirs: true}, kaiza.PathNotFound},
		{"real", Change{}, kaiza.FileWriteFailed},
		{".", Change{}, kaiza.FileWriteFailed},
		{"ro", Change{Before: x}, kaiza.InsufficientPermissions},
		{"ro", Change{Before: x, Delete: true}, kaiza.InsufficientPermissions},
		{"shut/a", Change{Before: x}, kaiza.InsufficientPermissions},
		{"shut/b", Change{}, kaiza.InsufficientPermissions},
		{"shut/b/c", Change{MakeDirs: true}, kaiza.InsufficientPermissions},
		{"near", Change{Before: x}, kaiza.InsufficientPermissions},
		{"linked/a", Change{Before: x}, kaiza.InsufficientPermissions},
		{"linked/b/c", Change{MakeDirs: true}, kaiza.InsufficientPermissions},
		{"dangling", Change{}, kaiza.InsufficientPermissions},
		{"out", Change{Before: x}, kaiza.OutsideWorkspace},
		{"out", Change{}, kaiza.OutsideWorkspace},
		{"door/new", Change{}, kaiza.OutsideWorkspace},
		{"door/d/new", Change{MakeDirs: true}, kaiza.OutsideWorkspace},
		{"door/secret.txt", Change{Before: &File{Hash: Hash([]byte(secret))}, Delete: true}, kaiza.OutsideWorkspace},
		{"hard", Change{Before: x}, kaiza.OutsideWorkspace},
	} {
		c.change.Path = b.path(c.name)
		_, err := b.folder.Stage(b.state, fmt.Sprint("id", i), []Change{c.change}, nil)
		if candor.CodeOf(err) != c.want {
			t.Errorf("%s %+v: %v, want %v", c.name, c.change, err, c.want)
			continue
		}
		b.refuses(err, c.want)
	}
	b.clean()
}

func TestInconsistentChangeSetIsRefused(t *testing.T) {
	b := newBench(t, Options{})
	for want, set := range map[candor.Code][]Change{
		kaiza.InvalidInputValue: {{Path: b.path("a")}, {Path: b.path("a")}},
		kaiza.InvalidPath:       {{Path: b.path("a/b"), MakeDirs: true}, {Path: b.path("a")}},
	} {
		_, err := b.folder.Stage(b.state, "id", set, nil)
		b.refuses(err, want)
	}
	var large []Change
	for i := range 5 {
		large = append(large, Change{Path: b.path(fmt.Sprint("f", i)), After: make([]byte, 7<<20)})
	}
	_, err := b.folder.Stage(b.state, "id", large, nil)
	b.refuses(err, kaiza.InvalidInputValue)
	for _, n := range []int{0, MaxChanges + 1} {
		_, err := b.folder.Stage(b.state, "id", make([]Change, n), nil)
		b.refuses(err, kaiza.InvalidInputValue)
	}
	for _, id := range []string{"", "..", "a/b", "a.b", strings.Repeat("a", 65)} {
		_, err := b.folder.Stage(b.state, id, []Change{{Path: b.path("a")}}, nil)
		b.refuses(err, kaiza.FileWriteFailed)
	}
	b.clean()
}

func TestAReadOnlyWorkspaceIsNotChanged(t *testing.T) {
	b := newBench(t, Options{ReadOnly: true})
	_, err := b.folder.Stage(b.state, "id", []Change{{Path: b.path("a")}}, nil)
	b.refuses(err, kaiza.InsufficientPermissions)
	b.clean()
}

// TestAnEditDuringACommitIsNeverLost edits the file of the last move at each step of a commit. The edit survives, and
// all other files are unchanged.
func TestAnEditDuringACommitIsNeverLost(t *testing.T) {
	for step := 0; ; step++ {
		b := newBench(t, Options{})
		b.put("first", "1")
		b.put("second", "2")
		s := b.stage("id", Change{Path: b.path("first"), Before: b.read("first"), After: []byte("one")},
			Change{Path: b.path("second"), Before: b.read("second"), After: []byte("two")})
		seen, edited := 0, ""
		b.folder.testHook = func(at string) {
			if seen++; seen == step+1 {
				edited = at
				b.must(os.WriteFile(filepath.Join(b.in, "edit"), []byte("edit"), 0o644))
				b.must(os.Rename(filepath.Join(b.in, "edit"), filepath.Join(b.in, "second")))
			}
		}
		err := s.Commit(context.Background())
		b.folder.testHook = func(string) {}
		if edited == "" {
			return
		}
		if edited == "checked" || edited == "in place" {
			continue // an edit between the last check and the rename is lost
		}
		if first, second := b.text("first"), b.text("second"); second != "edit" || (first == "1") != (err != nil) {
			t.Errorf("edited at step %d (%s): first %q, second %q, %v", step, edited, first, second, err)
		}
		_ = s.Done()
		b.noTemps()
	}
}

func TestAFileThatDoesNotReadBackIsAnInvariantViolation(t *testing.T) {
	b := newBench(t, Options{})
	s := b.stage("id", Change{Path: b.path("a"), After: []byte("x")})
	b.folder.testHook = func(at string) {
		if at == "renamed" {
			b.put("a", "something else")
		}
	}
	err := s.Commit(context.Background())
	b.refuses(err, kaiza.InvariantViolation)
	if got := candor.From(err).CallInfo().InvariantID; got != "INV_WRITE_READS_BACK" || b.text("a") != "something else" {
		t.Errorf("%q, %q", got, b.text("a"))
	}
	if err := s.Done(); !errors.Is(err, ErrJournalLeft) {
		t.Errorf("the backups of a change that could not be undone are gone: %v", err)
	}
}

func TestACancelledCommitChangesNothing(t *testing.T) {
	for step := 0; ; step++ {
		b := newBench(t, Options{})
		s := b.stage("id", b.everything()...)
		ctx, cancel := context.WithCancel(context.Background())
		seen := 0
		b.folder.testHook = func(string) {
			if seen++; seen == step+1 {
				cancel()
			}
		}
		err := s.Commit(ctx)
		cancel()
		want := sideBefore
		if err == nil {
			want = sideAfter
		} else {
			b.refuses(err, candor.CodeCancelled)
		}
		if got := b.side(); got != want {
			t.Errorf("cancelled at step %d: %s, %v", step, got, err)
		}
		b.must(s.Done())
		b.clean()
		if seen <= step {
			return
		}
	}
}

func TestUndoKeepsLaterEdits(t *testing.T) {
	b := newBench(t, Options{})
	s := b.stage("id", b.everything()...)
	b.must(s.Commit(context.Background()))
	b.put("new", "mine now")
	b.put("x/mine", "mine too")
	b.refuses(s.Undo(false), kaiza.HashMismatch)
	if got := b.side(); got != "before mine now - - going -rwxr-xr-x true" || b.text("x/mine") != "mine too" {
		t.Error(got)
	}
	if err := s.Done(); !errors.Is(err, ErrJournalLeft) {
		t.Errorf("the backup is gone: %v", err)
	}
	b.noTemps()
}
