package kaiza_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSessionsDoNotBeginInGuardedFolders tries to begin sessions in folders that are guarded in the enclosing workspace.
func TestSessionsDoNotBeginInGuardedFolders(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	for _, name := range []string{
		".git", ".git/refs/heads", "sub/.GIT/hooks", ".hg", ".svn/x", ".vscode", "sub/.claude/x", ".husky", "docs/plans", "docs/reports", "docs/reports/a", "sub/Docs/Plans/x",
		"bare.git/refs/heads", "bare.git", "src", "docs", "sub/reports", "plans",
	} {
		if err := os.MkdirAll(p.file(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.write("bare.git/HEAD", "ref: refs/heads/main\n")
	if err := os.MkdirAll(p.file("bare.git/objects"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(p.file(".git/refs/heads"), p.file("link")); err != nil {
		t.Fatal(err)
	}
	refusing := p.start()
	for _, name := range []string{
		".git", ".git/refs/heads", "sub/.GIT/hooks", ".hg", ".svn/x", ".vscode", "sub/.claude/x", ".husky", "docs/plans", "docs/reports", "docs/reports/a", "sub/Docs/Plans/x",
		"bare.git/refs/heads", "bare.git", "link",
	} {
		for _, role := range []string{"executor", "planner"} {
			a := refusing.call("begin_session", args{"workspace_root": p.file(name), "role": role})
			a.is("BOOTSTRAP_FAILURE")
			if got, _ := a.canonical().Path("details", "reason").Str(); got != "guarded_folder" {
				t.Errorf("%s: the reason is %q", name, got)
			}
		}
		refusing.call("write_file", args{"path": "docs/reports/evil.txt", "content": "x"}).is("SESSION_NOT_INITIALIZED")
	}
	for _, name := range []string{"src", "docs", "sub/reports", "plans", "."} {
		s := p.start()
		s.call("begin_session", args{"workspace_root": p.file(name), "role": "executor"}).fine()
		s.stop()
	}
}

// TestReportsHaveNoGuardedNames tries to write reports with names that editors act on, or in a folder of plans.
func TestReportsHaveNoGuardedNames(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	s := p.executor()
	for _, name := range []string{"docs/reports/.vscode/settings.json", "docs/reports/sub/.mcp.json", "docs/reports/.devcontainer.json", "docs/reports/docs/plans/x.md", "docs/reports/.claude/x.md"} {
		s.call("write_file", args{"path": name, "content": "x", "make_dirs": true}).is("MISSING_REQUIRED_FIELD")
		p.holds(name, "-")
	}
	s.call("write_file", args{"path": "docs/reports/sub/x.md", "content": "x"}).fine()
}

// TestNoPlanCoversThePlansOfANestedWorkspace tries to change the plans of a workspace from sessions in the enclosing
// folders.
func TestNoPlanCoversThePlansOfANestedWorkspace(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	inner := p.approved("src/**")
	own := "docs/plans/" + inner + ".md"
	before, _ := p.read(own)
	for _, around := range []struct{ work, name string }{{p.root, "work/docs/plans/"}, {p.file("docs"), "plans/"}} {
		outer := *p
		outer.work = around.work
		plan := outer.approved(`"**"`)
		c := outer.executor()
		for i, in := range []args{
			{"path": around.name + inner + ".md", "content": "x", "previous_hash": hashOf(before)},
			{"path": around.name + "new.md", "content": "x"},
		} {
			in["plan_hash"] = plan
			c.call("write_file", in).is("PLAN_SCOPE_VIOLATION")
			c.report("nested-" + string(rune('a'+i)) + ".md")
		}
		c.call("delete_file", args{"path": around.name + inner + ".md", "previous_hash": hashOf(before), "plan_hash": plan}).is("PLAN_SCOPE_VIOLATION")
		c.stop()
	}
	p.holds(own, before)
	if _, err := os.Stat(filepath.Join(p.work, "docs/plans/new.md")); err == nil {
		t.Error("a file was written into the plans")
	}
	p.executor().call("write_file", args{"path": "src/a.txt", "content": "x", "plan_hash": inner}).fine()
}
