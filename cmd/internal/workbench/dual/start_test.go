package dual_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadingCommandsWriteNothing checks that they do not even write to a directory that no server has used.
func TestReadingCommandsWriteNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if err := os.MkdirAll(p.state, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{{"tasks"}, {"sessions"}, {"rounds"}, {"verify"}, {"export", "x"}} {
		if _, said, code := p.person(words...); code != 2 || !strings.Contains(said, "has no database") {
			t.Errorf("%v: code %d, %s", words, code, said)
		}
	}
	if entries, err := os.ReadDir(p.state); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestAServerStartsWhileTheDatabaseIsLocked checks that a server without anything to change starts, and reads.
func TestAServerStartsWhileTheDatabaseIsLocked(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start()
	id := s.task(nil)
	s.End()
	defer p.hold()()
	p.start("--db-wait", "100ms").call("task_get", args{"id": id}).fine()
}

// TestHintsOfAServerThatCannotStart checks that the hints name the wrong flag or file.
func TestHintsOfAServerThatCannotStart(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if _, said, code := newPlace(t).person("--access", "FULL"); code != 0 { // flag values are case-insensitive
		t.Errorf("code %d, %s", code, said)
	}
	s := p.start()
	id := s.task(nil)
	s.think(id, nil).fine()
	s.End()
	p.sql("DELETE FROM meta")
	if out, said, code := p.person("verify"); code == 0 || strings.Contains(out+said, "sql:") || strings.Contains(said, "try again") || !strings.Contains(out+said, "the id of the database was removed") {
		t.Errorf("code %d, %s%s", code, out, said)
	}
	busy := newPlace(t)
	if err := os.MkdirAll(busy.state, 0o700); err != nil {
		t.Fatal(err)
	}
	release := busy.hold() // of a new database, which the server has to set up
	_, said, code := busy.person("--db-wait", "100ms")
	release()
	if code != 2 || !strings.Contains(said, "--db-wait") || strings.Contains(said, "--state") {
		t.Errorf("code %d, %s", code, said)
	}
}

// TestAnOpenStateFolderIsRefused checks that calls fail with SELF_AUDIT_FAILURE, which every tool declares.
func TestAnOpenStateFolderIsRefused(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if err := os.MkdirAll(p.state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(p.state, 0o755); err != nil {
		t.Fatal(err)
	}
	s := p.start()
	s.call("server_ping", args{}).isA("SELF_AUDIT_FAILURE")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	m := s.Ask("tools/list", `{}`)
	for tool := range m.Result().Path("tools").Elements() {
		codes := string(tool.Path("_meta", "dev.candor/codes").Raw())
		for _, code := range []string{"SELF_AUDIT_FAILURE", "AUDIT_LOG_FAILED"} {
			if !strings.Contains(codes, code) || !strings.Contains(string(text), code) {
				t.Errorf("%s is not declared: %s", code, codes)
			}
		}
	}
}

// TestSkillFilesThatAreNotFilesAreListed checks that a manifest that cannot be opened is listed, and that the list of
// such files is limited.
func TestSkillFilesThatAreNotFilesAreListed(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	dir := filepath.Join(filepath.Dir(p.state), "skills")
	if err := os.MkdirAll(filepath.Join(dir, "folder.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(filepath.Dir(p.state), "outside.yaml")
	manifest := "name: linked\nversion: \"1\"\ndescription: Linked.\n"
	for _, name := range []string{outside, filepath.Join(dir, "real.yaml")} {
		if err := os.WriteFile(name, []byte(manifest), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"dangling.yaml": "missing.yaml", "outside.yaml": outside, "second.yaml": "real.yaml"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	s := p.start("--skills", dir)
	a := s.call("skill_list", args{}).fine()
	var files []string
	for u := range a.value("unusable").Elements() {
		name, _ := u.Path("file").Str()
		files = append(files, name)
	}
	if strings.Join(files, " ") != "dangling.yaml folder.yaml outside.yaml second.yaml" || a.number("unusable_count") != 4 {
		t.Errorf("%s", a.value().Raw())
	}
	for i := range 100 {
		if err := os.Symlink("missing", filepath.Join(dir, strings.Repeat("x", i+1)+".json")); err != nil {
			t.Fatal(err)
		}
	}
	if a = s.call("skill_list", args{}).fine(); a.value("unusable").Len() != 20 || a.number("unusable_count") != 104 {
		t.Errorf("%d of %d", a.value("unusable").Len(), a.number("unusable_count"))
	}
}
