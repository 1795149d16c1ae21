package kaiza_test

import (
	"os"
	"testing"
)

// TestSessionsDoNotBeginInHiddenFolders tries to begin sessions in folders such as .git below the root.
func TestSessionsDoNotBeginInHiddenFolders(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	hidden := []string{".git", ".git/refs/heads", "sub/.GIT/hooks", ".vscode", "sub/.claude/x"}
	for _, name := range append([]string{"src", "docs"}, hidden...) {
		if err := os.MkdirAll(p.file(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(p.file(".git/refs/heads"), p.file("link")); err != nil {
		t.Fatal(err)
	}
	refusing := p.start()
	for _, name := range append(hidden, "link") {
		a := refusing.call("begin_session", args{"workspace_root": p.file(name), "role": "executor"})
		a.is("BOOTSTRAP_FAILURE")
		if got, _ := a.canonical().Path("details", "reason").Str(); got != "hidden_folder" {
			t.Errorf("%s: the reason is %q", name, got)
		}
	}
	for _, name := range []string{"src", "docs", "."} {
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
	for _, name := range []string{"docs/reports/.vscode/settings.json", "docs/reports/sub/.mcp.json", "docs/reports/.devcontainer.json", "docs/reports/docs/plans/x.md", "docs/reports/.claude/x.md", "docs/reports/x_test.go", "docs/reports/run"} {
		s.call("write_file", args{"path": name, "content": "x", "make_dirs": true}).is("MISSING_REQUIRED_FIELD")
		p.holds(name, "-")
	}
	s.call("write_file", args{"path": "docs/reports/sub/x.md", "content": "x"}).fine()
}
