package kaiza_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoPlanCoversTheFoldersOfVersionControl writes, under a plan that covers everything, to names that version control
// or some file system treats as folders with settings that run programs.
func TestNoPlanCoversTheFoldersOfVersionControl(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved(`"**"`)
	p.write(".git/config", "[core]\n")
	p.write("sub/.git", "gitdir: ../.git/modules/sub\n")
	c := p.executor()
	for i, name := range []string{
		".git/config", ".git/hooks/post-checkout", ".git/info/attributes", "other/.git", "sub/.git", "vendor/lib/.git/config",
		".GIT/config", ".Git/config", ".git./config", ".git /config", ".git. . /x", "git~1/config", "GIT~2/config", ".git::$INDEX_ALLOCATION/config",
		".hg/hgrc", ".svn/wc.db", ".jj/repo/config.toml", ".sl/config", ".bzr/branch/branch.conf", "_darcs/prefs/defaults", ".HG/hgrc", "CVS/Root",
	} {
		a := c.call("write_file", args{"path": name, "content": "x", "plan_hash": plan, "make_dirs": true})
		if a.code() == "HASH_MISMATCH" || a.code() == "FILE_ALREADY_EXISTS" { // an existing file needs its hash before the plan is checked
			content, _ := p.read(name)
			a = c.call("write_file", args{"path": name, "content": "x", "plan_hash": plan, "previous_hash": hashOf(content)})
		}
		c.locks(a, "PLAN_SCOPE_VIOLATION", plan)
		if said := a.text("content", 1, "text"); !strings.Contains(said, "version control") {
			t.Errorf("%s: it is not said why: %s", name, said)
		}
		c.report("vcs-" + string(rune('a'+i)) + ".md")
	}
	for tool, in := range map[string]args{
		"apply_patch": {"patch": "--- /dev/null\n+++ b/.git/hooks/pre-commit\n@@ -0,0 +1 @@\n+x\n"},
		"move_file":   {"path": "src/hello.txt", "to": ".git/hooks/pre-commit", "make_dirs": true},
		"delete_file": {"path": ".git/config", "previous_hash": hashOf("[core]\n")},
		"make_dir":    {"path": "deep/.git/hooks"},
	} {
		in["plan_hash"] = plan
		c.locks(c.call(tool, in), "PLAN_SCOPE_VIOLATION", plan)
		c.report("vcs-" + tool + ".md")
	}
	c.call("write_file", args{"path": "docs/reports/.git/x.md", "content": "x"}).is("MISSING_REQUIRED_FIELD")
	for _, name := range []string{".gitignore", "src/git/config", "src/.github/x.yml", "digit~1", "a.git/x", "cvs.txt"} {
		c.call("write_file", args{"path": name, "content": "x\n", "plan_hash": plan, "make_dirs": true}).fine()
	}
	if got, _ := p.read(".git/config"); got != "[core]\n" {
		t.Errorf("the settings hold %q", got)
	}
}

// TestGitRunsNothingThatAnAgentWrote has an agent try to make git run a program, and then runs git.
func TestGitRunsNothingThatAnAgentWrote(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	p := newEnv(t)
	if out, err := exec.Command("git", "-C", p.work, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("git: %v %s", err, out)
	}
	plan := p.approved(`"**"`)
	c := p.executor()
	proof := filepath.Join(filepath.Dir(p.root), "proof")
	before, _ := p.read(".git/config")
	c.call("write_file", args{"path": ".git/config", "previous_hash": hashOf(before), "plan_hash": plan,
		"content": before + "[core]\n\tfsmonitor = \"touch " + proof + "; false\"\n"})
	_, _ = exec.Command("git", "-C", p.work, "status").CombinedOutput()
	if _, err := os.Stat(proof); err == nil {
		t.Error("git has run what an agent wrote")
	}
}

// TestFilesThatRunProgramsAreCoveredByNameOnly writes files that an editor or an agent acts on when it opens the folder.
func TestFilesThatRunProgramsAreCoveredByNameOnly(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	all, named := p.approved(`"**"`), p.approved(".vscode/**", `"**/.envrc"`)
	c := p.executor()
	for i, name := range []string{".vscode/tasks.json", "sub/.VSCode/tasks.json", ".idea/workspace.xml", ".cursor/mcp.json", ".claude/settings.json", ".envrc", ".mcp.json",
		".devcontainer/devcontainer.json", ".husky/pre-commit", ".gitmodules", ".gitattributes",
		"CLAUDE.md", "sub/AGENTS.md", "agents.md", ".cursorrules", ".windsurfrules", ".exrc", ".nvim.lua", ".dir-locals.el", "mise.toml", ".mise.toml", ".gdbinit"} {
		a := c.call("write_file", args{"path": name, "content": "{}\n", "plan_hash": all, "make_dirs": true})
		a.is("PLAN_SCOPE_VIOLATION")
		if said := a.text("content", 1, "text"); !strings.Contains(said, "name") {
			t.Errorf("%s: the way out is not said: %s", name, said)
		}
		c.report("named-" + string(rune('a'+i)) + ".md")
	}
	c.call("write_file", args{"path": ".vscode/tasks.json", "content": "{}\n", "plan_hash": named, "make_dirs": true}).fine()
	c.call("write_file", args{"path": "sub/.envrc", "content": "x\n", "plan_hash": named, "make_dirs": true}).fine()
	c.call("write_file", args{"path": ".vscode/.git/config", "content": "x\n", "plan_hash": named, "make_dirs": true}).is("PLAN_SCOPE_VIOLATION")
}

// TestNewNamesWithInvisibleCharactersAreRefused writes names with characters that an approver cannot see.
func TestNewNamesWithInvisibleCharactersAreRefused(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved(`"**"`)
	p.write("src/old\u200bname.txt", "old\n")
	c := p.executor()
	for _, r := range []rune{0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2060, 0x2061, 0x2064, 0xfeff, 0x00ad, 0x061c, 0x180e, 0x034f, 0x115f, 0x3164, 0xffa0, 0x2800, 0x206a, 0xe0001, 0xe0041, 0xe007f,
		0xfe00, 0xfe0f, 0xe0100, 0x202e, 0x2066, 0xa0, 0x2003, 0x3000, 0xe000, 0x1d173, 0xfff9} {
		name := "src/a" + string(r) + "b.txt"
		c.call("write_file", args{"path": name, "content": "x\n", "plan_hash": plan}).is("INVALID_PATH")
		c.call("move_file", args{"path": "src/hello.txt", "to": name, "plan_hash": plan}).is("INVALID_PATH")
		c.call("make_dir", args{"path": name, "plan_hash": plan}).is("INVALID_PATH")
		c.call("write_file", args{"path": "src/d" + string(r) + "/b.txt", "content": "x\n", "plan_hash": plan, "make_dirs": true}).is("INVALID_PATH")
		c.call("apply_patch", args{"patch": "--- /dev/null\n+++ b/" + name + "\n@@ -0,0 +1 @@\n+x\n", "plan_hash": plan}).is("INVALID_PATH")
	}
	for _, name := range []string{"src/größe.txt", "src/名前.txt", "src/e\u0301.txt", "src/with space.txt", "src/नमस्ते.txt"} {
		c.call("write_file", args{"path": name, "content": "x\n", "plan_hash": plan}).fine()
	}
	c.call("read_file", args{"path": "src/old\u200bname.txt"}).fine() // existing files can be read, replaced and removed
	c.call("write_file", args{"path": "src/old\u200bname.txt", "content": "new\n", "previous_hash": hashOf("old\n"), "plan_hash": plan}).fine()
	c.call("move_file", args{"path": "src/old\u200bname.txt", "to": "src/plain.txt", "plan_hash": plan}).fine()
}
