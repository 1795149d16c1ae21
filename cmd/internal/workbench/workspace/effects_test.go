package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// TestHistoryForgetsTheOldest checks that the size of the history is bounded.
func TestHistoryForgetsTheOldest(t *testing.T) {
	b := newBench(t, Options{})
	b.must(b.state.Mkdir(historyFolder, 0o700))
	for i := range MaxHistory + 10 {
		j := Journal{ID: "old"}
		j.At = j.At.AddDate(2000, 0, i)
		b.must(b.state.Mkdir(historyFolder+"/"+j.historyName(), 0o700))
	}
	b.put("a", "before")
	s := b.stage("new", Change{Path: Path{"a"}, Before: b.read("a"), After: []byte("after")})
	b.must(s.Commit(context.Background()))
	b.must(s.Archive())
	names, err := historyNames(b.state)
	b.must(err)
	if len(names) != MaxHistory || !strings.HasSuffix(names[len(names)-1], "-6-new") {
		t.Errorf("%d are kept, the newest is %s", len(names), names[len(names)-1])
	}
}

// TestAnArchivedChangeIsReversed undoes a change that was archived, and then undoes that undo.
func TestAnArchivedChangeIsReversed(t *testing.T) {
	b := newBench(t, Options{})
	s := b.stage("one", b.everything()...)
	b.must(s.Commit(context.Background()))
	b.must(s.Archive())
	for i, want := range []string{sideBefore, sideAfter} {
		history, err := History(b.state)
		b.must(err)
		if len(history) != i+1 {
			t.Fatalf("%d in the history", len(history))
		}
		back, err := b.folder.Reverse(b.state, &history[0])
		b.must(err)
		s := b.stage(fmt.Sprint("back", i), back...)
		b.must(s.Commit(context.Background()))
		b.must(s.Archive())
		b.folder.RemoveMade(&history[0])
		if got := b.side(); got != want {
			t.Errorf("put back it is %s, want %s", got, want)
		}
	}
	b.clean()
}

// TestArchivedChangeIsReversedOnlyIfUnchanged checks that later changes are reported and prevent the undo.
func TestArchivedChangeIsReversedOnlyIfUnchanged(t *testing.T) {
	b := newBench(t, Options{})
	s := b.stage("one", b.everything()...)
	b.must(s.Commit(context.Background()))
	b.must(s.Archive())
	b.put("old", "edited since")
	b.put("d/gone", "here again")
	b.must(os.Remove(filepath.Join(b.in, "new")))
	history, err := History(b.state)
	b.must(err)
	back, err := b.folder.Reverse(b.state, &history[0])
	b.must(err)
	wants := map[string]candor.Code{"old": kaiza.HashMismatch, "new": kaiza.FileNotFound, "d/gone": kaiza.FileAlreadyExists}
	for _, c := range back {
		if want := wants[c.Path.name]; want != 0 {
			if err := b.folder.Check([]Change{c}); candor.CodeOf(err) != want {
				t.Errorf("%s: %v, want %s", c.Path, err, want)
			}
			delete(wants, c.Path.name)
		}
	}
	if len(wants) > 0 {
		t.Errorf("not in the undo: %v", wants)
	}
}
