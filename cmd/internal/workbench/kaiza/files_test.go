package kaiza_test

import (
	"os"
	"strings"
	"testing"
)

// executable reports whether a file of the workspace has the executable bit.
func (p *env) executable(name string) bool {
	p.t.Helper()
	info, err := os.Stat(p.file(name))
	if err != nil {
		p.t.Fatal(err)
	}
	return info.Mode().Perm()&0o100 != 0
}

// holds checks the content of a file of the workspace; "-" means that it does not exist.
func (p *env) holds(name, want string) {
	p.t.Helper()
	got, there := p.read(name)
	if !there {
		got = "-"
	}
	if got != want {
		p.t.Errorf("%s holds %q, want %q", name, got, want)
	}
}

const hello = "hello\nworld\n"

func TestMoveFile(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	p.write("src/taken.txt", "taken\n")
	p.write("src/case.txt", "case\n")
	if err := os.Chmod(p.file("src/hello.txt"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("hello.txt", p.file("src/link.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../..", p.file("src/out")); err != nil {
		t.Fatal(err)
	}
	s := p.executor()
	move := func(from, to string, more args) answer {
		a := args{"path": from, "to": to, "plan_hash": plan}
		for k, v := range more {
			a[k] = v
		}
		return s.call("move_file", a)
	}
	move("src/none.txt", "src/a.txt", nil).is("FILE_NOT_FOUND")
	move("none/none.txt", "src/a.txt", nil).is("PATH_NOT_FOUND")
	move("src/hello.txt", "src/taken.txt", nil).is("FILE_ALREADY_EXISTS")
	move("src/hello.txt", "src/taken.txt", args{"replaced_hash": hashOf("other")}).is("HASH_MISMATCH")
	move("src/hello.txt", "src/new/a.txt", nil).is("PATH_NOT_FOUND")
	move("src/hello.txt", "src/a.txt", args{"previous_hash": hashOf("other")}).is("HASH_MISMATCH")
	move("src/hello.txt", "src/hello.txt", nil).is("INVALID_INPUT_VALUE")
	move("src/hello.txt", "src/hello.txt/a", args{"make_dirs": true}).is("INVALID_PATH")
	move("src/hello.txt", "../a.txt", nil).is("PATH_TRAVERSAL_BLOCKED")
	move("src/hello.txt", "src/out/a.txt", nil).is("OUTSIDE_WORKSPACE")
	move("src/link.txt", "src/a.txt", nil).is("INSUFFICIENT_PERMISSIONS")
	move("src", "src/a", nil).is("FILE_READ_FAILED")
	move("src/hello.txt", "src", nil).is("FILE_WRITE_FAILED")
	p.holds("src/hello.txt", hello)
	p.holds("src/taken.txt", "taken\n")

	move("src/hello.txt", "src/new/deep/a.txt", args{"make_dirs": true}).fine()
	p.holds("src/hello.txt", "-")
	p.holds("src/new/deep/a.txt", hello)
	if info, err := os.Stat(p.file("src/new/deep/a.txt")); err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("the mode is %v: %v", info.Mode(), err)
	}
	move("src/new/deep/a.txt", "src/taken.txt", args{"replaced_hash": hashOf("taken\n")}).fine()
	p.holds("src/taken.txt", hello)
	move("src/case.txt", "src/CASE.txt", nil).fine()
	p.holds("src/CASE.txt", "case\n")
	p.holds("src/case.txt", "-")
	move("src/taken.txt", "other.txt", nil).is("PLAN_SCOPE_VIOLATION")
	p.holds("other.txt", "-")
	s.End()
	p.verify()
}

func TestDeleteFile(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	p.write("src/full/a.txt", "a\n")
	p.write("src/two.txt", "two\n")
	if err := os.Mkdir(p.file("src/empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(p.file("src/two.txt"), p.file("src/twin.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("empty", p.file("src/link")); err != nil {
		t.Fatal(err)
	}
	s := p.executor()
	remove := func(name, hash string) answer {
		a := args{"path": name, "plan_hash": plan}
		if hash != "" {
			a["previous_hash"] = hash
		}
		return s.call("delete_file", a)
	}
	remove("src/none.txt", hashOf(hello)).is("FILE_NOT_FOUND")
	remove("none/none.txt", hashOf(hello)).is("PATH_NOT_FOUND")
	remove("src/hello.txt", "").is("MISSING_REQUIRED_FIELD")
	remove("src/hello.txt", hashOf("other")).is("HASH_MISMATCH")
	remove("src/two.txt", hashOf("two\n")).is("OUTSIDE_WORKSPACE") // it has a second hard link
	remove("src/full", "").is("FILE_WRITE_FAILED")
	remove("src/link", "").is("FILE_READ_FAILED")
	p.holds("src/hello.txt", hello)
	remove("src/hello.txt", hashOf(hello)).fine()
	p.holds("src/hello.txt", "-")
	remove("src/empty", "").fine()
	if _, err := os.Stat(p.file("src/empty")); err == nil {
		t.Error("the folder is still there")
	}
	s.call("delete_file", args{"path": "docs/plans/" + plan + ".md", "previous_hash": hashOf("x"), "plan_hash": plan}).is("HASH_MISMATCH")
	s.End()
	p.verify()
}

func TestMakeDir(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	s := p.executor()
	mkdir := func(name string) answer { return s.call("make_dir", args{"path": name, "plan_hash": plan}) }
	mkdir("src").is("FILE_ALREADY_EXISTS")
	mkdir("src/hello.txt").is("FILE_ALREADY_EXISTS")
	mkdir("src/hello.txt/sub").is("PATH_NOT_FOUND")
	mkdir("src/one/two/three").fine()
	if info, err := os.Stat(p.file("src/one/two/three")); err != nil || !info.IsDir() {
		t.Errorf("the folder was not made: %v", err)
	}
	mkdir("elsewhere").is("PLAN_SCOPE_VIOLATION")
	s.End()
	p.verify()
}

func TestSetExecutable(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	s := p.executor()
	chmod := func(name string, on bool) answer {
		return s.call("set_executable", args{"path": name, "executable": on, "plan_hash": plan})
	}
	chmod("src/none.sh", true).is("FILE_NOT_FOUND")
	chmod("src", true).is("FILE_READ_FAILED")
	chmod("src/hello.txt", true).fine()
	p.holds("src/hello.txt", hello)
	if info, _ := os.Stat(p.file("src/hello.txt")); info.Mode().Perm() != 0o700 { // it was 0600, readable by its owner only
		t.Errorf("the mode is %v", info.Mode())
	}
	chmod("src/hello.txt", false).fine()
	if p.executable("src/hello.txt") {
		t.Error("the bit is still set")
	}
	s.call("write_file", args{"path": "src/run.sh", "content": "#!/bin/sh\n", "executable": true, "plan_hash": plan}).fine()
	if !p.executable("src/run.sh") {
		t.Error("a new file did not get the bit")
	}
	s.call("write_file", args{"path": "docs/reports/a.md", "content": "a report", "executable": true}).is("INVALID_INPUT_VALUE")
	s.End()
	p.verify()
}

// TestPolicyChecksMovedContentUnderItsNewName checks that a rule cannot be evaded by writing a file where the rule does
// not apply and moving it.
func TestPolicyChecksMovedContentUnderItsNewName(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	policy := p.policyFile("rules:\n  - id: NO_TABS\n    pattern: '\\t'\n    files: ['**/*.go']\n    message: No tabs here.\n")
	s := p.executor("--policy", policy)
	s.call("write_file", args{"path": "src/a.txt", "content": "a\tb\n", "plan_hash": plan}).fine()
	s.call("move_file", args{"path": "src/a.txt", "to": "src/a.go", "plan_hash": plan}).is("POLICY_VIOLATION")
	p.holds("src/a.go", "-")
	p.holds("src/a.txt", "a\tb\n")
}

// effects has one call of each tool that changes files, for the files of an env.
var effects = map[string]struct {
	call args
	done func(p *env) bool
}{
	"move_file": {args{"path": "src/hello.txt", "to": "src/new/moved.txt", "make_dirs": true},
		func(p *env) bool { _, there := p.read("src/new/moved.txt"); return there }},
	"delete_file": {args{"path": "src/hello.txt", "previous_hash": hashOf(hello)},
		func(p *env) bool { _, there := p.read("src/hello.txt"); return !there }},
	"make_dir": {args{"path": "src/a/b"},
		func(p *env) bool { _, err := os.Stat(p.file("src/a/b")); return err == nil }},
	"set_executable": {args{"path": "src/hello.txt", "executable": true},
		func(p *env) bool { return p.executable("src/hello.txt") }},
	"write_file": {args{"path": "src/hello.txt", "content": "new\n", "previous_hash": hashOf(hello)},
		func(p *env) bool { text, _ := p.read("src/hello.txt"); return text == "new\n" }},
	"apply_patch": {args{"patch": "--- a/src/hello.txt\n+++ b/src/hello.txt\n@@ -1,2 +1,2 @@\n hello\n-world\n+moon\n"},
		func(p *env) bool { text, _ := p.read("src/hello.txt"); return strings.Contains(text, "moon") }},
}

// TestEveryEffectIsRefusedToAPlanner calls each tool that changes files in the wrong role.
func TestEveryEffectIsRefusedToAPlanner(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	s := p.start()
	s.begin("ANTIGRAVITY")
	for tool, effect := range effects {
		effect.call["plan_hash"] = plan
		s.call(tool, effect.call).is("UNAUTHORIZED_ACTION")
		if effect.done(p) {
			t.Errorf("%s was done for a planner", tool)
		}
		delete(effect.call, "plan_hash")
	}
}
