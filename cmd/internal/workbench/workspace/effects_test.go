package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// effect is a change of one sort, with a function that distinguishes its two sides.
type effect struct {
	prepare func(b *bench)
	changes func(f *Folder) []Change
	side    func(b *bench) string // sideBefore or sideAfter, or another text
}

func pick(before, after bool) string {
	switch {
	case before && !after:
		return sideBefore
	case after && !before:
		return sideAfter
	}
	return "neither"
}

func mustRead(f *Folder, name string) File {
	file, err := f.Read(Path{name})
	if err != nil {
		panic(err)
	}
	return file
}

func (b *bench) mode(name string) os.FileMode {
	info, err := os.Lstat(filepath.Join(b.in, name))
	if err != nil {
		return 0
	}
	return info.Mode()
}

var effects = map[string]effect{
	"mode": {
		func(b *bench) { b.put("run", "x") },
		func(f *Folder) []Change {
			file, mode := mustRead(f, "run"), os.FileMode(0o755)
			return []Change{{Path: Path{"run"}, Before: &file, After: file.Content, Mode: &mode}}
		},
		func(b *bench) string { return pick(b.mode("run") == 0o644, b.mode("run") == 0o755) },
	},
	"mkdir": {
		func(*bench) {},
		func(*Folder) []Change { return []Change{{Path: Path{"m/n"}, Folder: true, MakeDirs: true}} },
		func(b *bench) string { return pick(b.mode("m") == 0, b.mode("m/n").IsDir()) },
	},
	"rmdir": {
		func(b *bench) { b.must(os.Mkdir(filepath.Join(b.in, "r"), 0o750)) },
		func(*Folder) []Change { return []Change{{Path: Path{"r"}, Folder: true, Delete: true}} },
		func(b *bench) string { return pick(b.mode("r") == os.ModeDir|0o750, b.mode("r") == 0) },
	},
	"tree": { // a file and its folder
		func(b *bench) { b.put("t/u/file", "x") },
		func(f *Folder) []Change {
			file := mustRead(f, "t/u/file")
			return []Change{{Path: Path{"t/u/file"}, Before: &file, Delete: true}, {Path: Path{"t/u"}, Folder: true, Delete: true}, {Path: Path{"t"}, Folder: true, Delete: true}}
		},
		func(b *bench) string { return pick(b.text("t/u/file") == "x", b.mode("t") == 0) },
	},
	"move": {
		func(b *bench) {
			b.put("from", "x")
			b.must(os.Chmod(filepath.Join(b.in, "from"), 0o750))
		},
		func(f *Folder) []Change { return Move(mustRead(f, "from"), Path{"deep/to"}, nil, true) },
		func(b *bench) string {
			return pick(b.mode("from") == 0o750 && b.mode("deep") == 0, b.text("deep/to") == "x" && b.mode("deep/to") == 0o750 && b.mode("from") == 0)
		},
	},
}

// effectRole makes the change named in the environment and is killed at a step.
func effectRole(top string, step int) int {
	f, state := there(top, 0)
	s, err := f.Stage(state, "one", effects[os.Getenv("CANDOR_WORKSPACE_EFFECT")].changes(f), nil)
	if err != nil {
		panic(err)
	}
	f.testHook = killer(step)
	if err := s.Commit(context.Background()); err != nil {
		panic(err)
	}
	return 0
}

// TestEveryEffectIsWholeAfterAKill kills a process at each step of each sort of change. Afterwards the workspace is on
// one side, which the recovery reports. A change that was complete follows the verdict, and an archived one can be
// reversed.
func TestEveryEffectIsWholeAfterAKill(t *testing.T) {
	for name, e := range effects {
		t.Run(name, func(t *testing.T) {
			for step, complete := 1, 0; complete < 2; step++ {
				b := newBench(t, Options{})
				e.prepare(b)
				if got := e.side(b); got != sideBefore {
					t.Fatalf("it begins %s", got)
				}
				cmd := b.process("effect", step)
				cmd.Env = append(cmd.Env, "CANDOR_WORKSPACE_EFFECT="+name)
				verdict := []Verdict{Undo, Archive}[complete]
				finished := cmd.Run() == nil
				if finished {
					complete++
				}
				found := b.recover(verdict)
				if len(found) != 1 || found[0].Err != nil {
					t.Fatalf("step %d: %+v", step, found)
				}
				want := map[State]string{NotDone: sideBefore, Undone: sideBefore, Kept: sideAfter}[found[0].State]
				if got := e.side(b); got != want {
					t.Errorf("step %d: %s, but %q", step, found[0].State, got)
				}
				if finished && (found[0].State == Kept) != (verdict == Archive) {
					t.Errorf("a complete change was %s", found[0].State)
				}
				b.clean()
				if found[0].State == Kept {
					b.reverses(e)
				}
			}
		})
	}
}

// reverses undoes the newest change, and then undoes that undo.
func (b *bench) reverses(e effect) {
	b.t.Helper()
	for i, want := range []string{sideBefore, sideAfter} {
		history, err := History(b.state)
		b.must(err)
		back, differences, err := b.folder.Reverse(b.state, &history[0])
		b.must(err)
		if len(differences) > 0 || len(history) != i+1 {
			b.t.Fatalf("%d in the history, and %+v", len(history), differences)
		}
		s := b.stage("back"+strings.Repeat("x", i), back...)
		b.must(s.Commit(context.Background()))
		b.must(s.Archive())
		if got := e.side(b); got != want {
			b.t.Errorf("put back it is %s", got)
		}
	}
	b.clean()
}

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
	dir, err := b.state.OpenRoot(historyFolder)
	b.must(err)
	names, err := historyNames(dir)
	b.must(err)
	if len(names) != MaxHistory || !strings.HasSuffix(names[len(names)-1], "-6-new") {
		t.Errorf("%d are kept, the newest is %s", len(names), names[len(names)-1])
	}
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
	back, differences, err := b.folder.Reverse(b.state, &history[0])
	b.must(err)
	if len(back) != 0 || len(differences) != 3 || differences[0].Says != "has changed since" || differences[1].Says != "does not exist any more" || differences[2].Says != "exists again" {
		t.Errorf("%d changes, %+v", len(back), differences)
	}
}

// TestAFolderThatIsNotEmptyStays also covers a file that is created in the folder at the last moment.
func TestAFolderThatIsNotEmptyStays(t *testing.T) {
	b := newBench(t, Options{})
	b.must(os.Mkdir(filepath.Join(b.in, "r"), 0o750))
	s := b.stage("one", Change{Path: Path{"r"}, Folder: true, Delete: true})
	b.put("r/late", "x")
	if err := s.Commit(context.Background()); err == nil {
		t.Error("a folder with a file in it was removed")
	}
	b.must(s.Done())
	if b.text("r/late") != "x" {
		t.Error("the file is gone")
	}
	b.clean()
}
