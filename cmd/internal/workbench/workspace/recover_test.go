package workspace

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

func (b *bench) recover(v Verdict) []Recovered {
	b.t.Helper()
	found, err := Recover(b.state, func(root string) (*Folder, error) { return Open(root, Options{}) }, func(Journal) Verdict { return v })
	b.must(err)
	return found
}

// TestKilledProcessLeavesOldOrNewContent kills a process at each step of a commit, of an undo and of a recovery. The
// workspace is then completely before or after the change, without temporary files.
func TestKilledProcessLeavesOldOrNewContent(t *testing.T) {
	for _, c := range []struct {
		role          string
		first, stride int
	}{{"commit", 1, 1}, {"undo", 1, 2}, {"recover", 2, 2}} { // undo and recovery take the same steps; each is killed at every second one
		role, steps, complete := c.role, 0, 0
		for step := c.first; complete < 2; step += c.stride { // the last two are not killed: a commit gets each of the verdicts once
			b := newBench(t, Options{})
			b.everything()
			finished := b.process(role, step).Run() == nil
			verdict := Undo // a change of a killed process was not declared done
			if role == "commit" && finished {
				verdict = Verdict(step % 2)
			}
			b.checkRecovery(role, step, verdict, finished)
			if finished {
				complete++
			} else {
				steps++
			}
		}
		if t.Logf("%s: killed at each of %d steps", role, steps); steps < 5 {
			t.Errorf("%s has only %d steps", role, steps)
		}
	}
}

func (b *bench) checkRecovery(role string, step int, verdict Verdict, finished bool) {
	b.t.Helper()
	found := b.recover(verdict)
	if role == "recover" && finished {
		if len(found) != 0 || b.side() != sideBefore {
			b.t.Errorf("recovered twice: %+v, %s", found, b.side())
		}
		return
	}
	if len(found) != 1 || found[0].Err != nil || string(found[0].Journal.Note) != `{"call":7}` || found[0].Journal.Root != b.folder.Root() {
		b.t.Fatalf("%s, step %d: %+v", role, step, found)
	}
	want := map[State]string{NotDone: sideBefore, Undone: sideBefore, Kept: sideAfter}[found[0].State]
	if got := b.side(); got != want {
		b.t.Errorf("%s, step %d: %s, but %q", role, step, found[0].State, got)
	}
	if complete := role == "commit" && finished; complete && (found[0].State == Kept) != (verdict == Keep) {
		b.t.Errorf("a complete change was %s", found[0].State)
	}
	b.clean()
	if again := b.recover(verdict); len(again) != 0 {
		b.t.Errorf("recovered again: %+v", again)
	}
}

func TestUnknownFileIsKeptAndReported(t *testing.T) {
	b := newBench(t, Options{})
	s := b.stage("one", b.everything()...)
	b.must(s.Commit(context.Background()))
	b.put("old", "edited since")
	found := b.recover(Undo)
	if len(found) != 1 || found[0].State != Unknown || len(found[0].Unknown) != 1 || found[0].Unknown[0] != "old" {
		t.Fatalf("%+v", found)
	}
	if got := b.side(); got != "edited since - - - going -rwxr-xr-x false" {
		t.Error(got)
	}
	aside, _ := fs.Glob(b.state.FS(), changesFolder+"/one.unknown-*/0.before")
	if len(aside) != 1 {
		t.Fatalf("the backup is gone: %v", aside)
	}
	if data, err := b.state.ReadFile(aside[0]); err != nil || string(data) != "before" {
		t.Errorf("the backup holds %q, %v", data, err)
	}
	b.put("old", "after") // a later change with the same content
	if again := b.recover(Undo); len(again) != 0 || b.text("old") != "after" {
		t.Errorf("recovered again: %+v, %s", again, b.text("old"))
	}
	b.noTemps()
}

// TestCompletedChangeIsKeptByRecovery checks that a change that was declared done is kept, although
// a file was edited, restored or removed since and the journal was left.
func TestCompletedChangeIsKeptByRecovery(t *testing.T) {
	for _, verdict := range []Verdict{Keep, Archive} {
		for _, content := range []string{"edited since", "before", "after"} {
			b := newBench(t, Options{})
			b.must(b.stage("one", b.everything()...).Commit(context.Background()))
			b.put("old", content)
			side := b.side()
			if found := b.recover(verdict); len(found) != 1 || found[0].State != Kept || found[0].Err != nil || b.side() != side {
				t.Errorf("%q: %+v, %s, and it was %s", content, found, b.side(), side)
			}
			if again := b.recover(verdict); len(again) != 0 {
				t.Errorf("recovered again: %+v", again)
			}
		}
	}
}

func TestAJournalThatCannotBeTrustedIsSetAside(t *testing.T) {
	b := newBench(t, Options{})
	b.put("old", "after")
	good := Journal{Version: 1, ID: "x", Root: b.in, Files: []JournalFile{{Path: "old", After: Hash([]byte("after")), Temp: newTempName()}}}
	alter := func(change func(*Journal)) string {
		j := good
		j.Files = append([]JournalFile(nil), good.Files...)
		change(&j)
		text, err := json.Marshal(j)
		b.must(err)
		return string(text)
	}
	b.must(b.state.Mkdir(changesFolder, 0o700))
	for name, text := range map[string]string{
		"torn": `{"version":1,"id":"x","ro`, "empty": "", "null": "null", "array": "[]",
		"future":  alter(func(j *Journal) { j.Version = 2 }),
		"another": alter(func(j *Journal) { j.ID = "y" }),
		"climbs":  alter(func(j *Journal) { j.Files[0].Path = "../outside/secret.txt" }),
		"root":    alter(func(j *Journal) { j.Files[0].Path = "." }),
		"unclean": alter(func(j *Journal) { j.Files[0].Path = "./old" }),
		"temp":    alter(func(j *Journal) { j.Files[0].Temp = "old" }),
		"deep":    alter(func(j *Journal) { j.Files[0].Temp = ".candor-/../../outside/secret.tmp" }),
		"hash":    alter(func(j *Journal) { j.Files[0].Before = "x" }),
		"folder":  alter(func(j *Journal) { j.Folders = []string{"../outside"} }),
		"none":    alter(func(j *Journal) { j.Files = nil }),
		"suid":    alter(func(j *Journal) { j.Files[0].Mode = os.ModeSetuid | 0o755 }),
	} {
		b.must(b.state.Mkdir(changesFolder+"/x", 0o700))
		b.must(b.state.WriteFile(changesFolder+"/x/"+journalFile, []byte(text), 0o600))
		found := b.recover(Undo)
		if len(found) != 1 || found[0].State != Damaged || found[0].Err == nil {
			t.Errorf("%s: %+v", name, found)
		}
		if again := b.recover(Undo); len(again) != 0 {
			t.Errorf("%s again: %+v", name, again)
		}
	}
	if b.text("old") != "after" {
		t.Error("a file was touched")
	}
	b.noTemps()
}

func TestMissingWorkspaceKeepsTheJournal(t *testing.T) {
	b := newBench(t, Options{})
	s := b.stage("one", b.everything()...)
	b.must(s.Commit(context.Background()))
	b.must(os.Rename(b.in, b.in+".away"))
	found := b.recover(Undo)
	if len(found) != 1 || found[0].State != Waiting || candor.CodeOf(found[0].Err) != kaiza.BootstrapFailure {
		t.Fatalf("%+v", found)
	}
	b.must(os.Rename(b.in+".away", b.in))
	if found := b.recover(Undo); len(found) != 1 || found[0].State != Undone || b.side() != sideBefore {
		t.Errorf("%+v, %s", found, b.side())
	}
	b.clean()
}

func TestAFileWhoseBackupIsDamagedIsLeftAlone(t *testing.T) {
	b := newBench(t, Options{})
	s := b.stage("one", b.everything()...)
	b.must(s.Commit(context.Background()))
	b.must(b.state.WriteFile(changesFolder+"/one/0.before", []byte("rotten"), 0o600))
	found := b.recover(Undo)
	if len(found) != 1 || found[0].State != Unknown || strings.Join(found[0].Unknown, " ") != "old" || b.text("old") != "after" || b.text("new") != "-" {
		t.Errorf("%+v, %s", found, b.side())
	}
}

// TestRecoveryFollowsNoLink recovers a journal with a path that has become a link to the outside.
func TestRecoveryFollowsNoLink(t *testing.T) {
	b := newBench(t, Options{})
	b.put("d/secret.txt", "mine")
	s := b.stage("one", Change{Path: b.path("d/secret.txt"), Before: b.read("d/secret.txt"), After: []byte(secret)})
	b.must(s.Commit(context.Background()))
	b.must(os.RemoveAll(filepath.Join(b.in, "d")))
	b.symlink("../outside", "d")
	found := b.recover(Undo)
	if len(found) != 1 || found[0].State != Unknown {
		t.Errorf("%+v", found)
	}
	b.noTemps()
}

// TestWaitVerdictTouchesNothing checks that a change with the verdict Wait is not touched until another verdict is
// given.
func TestWaitVerdictTouchesNothing(t *testing.T) {
	for _, then := range []Verdict{Keep, Undo} {
		b := newBench(t, Options{})
		b.must(b.stage("waits", b.everything()...).Commit(context.Background()))
		for range 2 {
			if found := b.recover(Wait); len(found) != 1 || found[0].State != Waiting || b.side() != sideAfter {
				t.Fatalf("waiting: %+v, %s", found, b.side())
			}
		}
		want := map[Verdict]string{Keep: sideAfter, Undo: sideBefore}[then]
		if found := b.recover(then); len(found) != 1 || b.side() != want {
			t.Errorf("then: %+v, %s", found, b.side())
		}
	}
}
