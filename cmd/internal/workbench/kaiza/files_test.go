package kaiza_test

import (
	"os"
	"strings"
	"testing"
)

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

func TestDeleteFile(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	p.write("src/full/a.txt", "a\n")
	p.write("src/two.txt", "two\n")
	if err := os.Link(p.file("src/two.txt"), p.file("src/twin.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("hello.txt", p.file("src/link")); err != nil {
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
	remove("src/none/none.txt", hashOf(hello)).is("PATH_NOT_FOUND")
	remove("src/hello.txt", "").is("MISSING_REQUIRED_FIELD")
	remove("src/hello.txt", hashOf("other")).is("HASH_MISMATCH")
	remove("src/two.txt", hashOf("two\n")).is("OUTSIDE_WORKSPACE") // it has a second hard link
	remove("src/full", hashOf("x")).is("FILE_READ_FAILED")
	remove("src/link", hashOf(hello)).is("INSUFFICIENT_PERMISSIONS")
	p.holds("src/hello.txt", hello)
	remove("src/hello.txt", hashOf(hello)).fine()
	p.holds("src/hello.txt", "-")
	s.call("delete_file", args{"path": "docs/plans/" + plan + ".md", "previous_hash": hashOf("x"), "plan_hash": plan}).is("PLAN_SCOPE_VIOLATION")
	s.End()
	p.verify()
}

// effects has one call of each tool that changes files, for the files of an env.
var effects = map[string]struct {
	call args
	done func(p *env) bool
}{
	"delete_file": {args{"path": "src/hello.txt", "previous_hash": hashOf(hello)},
		func(p *env) bool { _, there := p.read("src/hello.txt"); return !there }},
	"write_file": {args{"path": "src/new/a.txt", "content": "new\n", "make_dirs": true},
		func(p *env) bool { text, _ := p.read("src/new/a.txt"); return text == "new\n" }},
	"apply_patch": {args{"patch": "--- a/src/hello.txt\n+++ b/src/hello.txt\n@@ -1,2 +1,2 @@\n hello\n-world\n+moon\n"},
		func(p *env) bool { text, _ := p.read("src/hello.txt"); return strings.Contains(text, "moon") }},
}
