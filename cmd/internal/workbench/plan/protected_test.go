package plan_test

import (
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/workbench/plan"
)

// TestProtectedNamesAreNotOrdinary covers folders of version control, in spellings that some file system accepts, and
// files that editors and agents act on.
func TestProtectedNamesAreNotOrdinary(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"other/.git", "vendor/lib/.git/config", ".GIT/config", ".git./config", ".git /config", ".git. . /x", "git~1/config", "GIT~2/config", ".git::$INDEX_ALLOCATION/config",
		".svn/wc.db", ".jj/repo/config.toml", ".sl/config", ".bzr/branch/branch.conf", "_darcs/prefs/defaults", ".HG/hgrc", "CVS/Root",
	} {
		if plan.Unprotected(name) || plan.Ordinary(name) {
			t.Errorf("%s is not protected", name)
		}
	}
	for _, name := range []string{
		"sub/.VSCode/tasks.json", ".idea/workspace.xml", ".cursor/mcp.json", ".claude/settings.json", ".envrc", ".mcp.json", ".devcontainer/devcontainer.json", ".husky/pre-commit",
		".gitmodules", ".gitattributes", "CLAUDE.md", "sub/AGENTS.md", ".cursorrules", ".windsurfrules", ".exrc", ".nvim.lua", ".dir-locals.el", "mise.toml", ".gdbinit",
		".roo/mcp.json", ".kiro/settings/mcp.json", ".amazonq/mcp.json", "opencode.json", "sub/mcp.json", "my-mcp.config.json", "x.code-workspace", ".continue/config.yaml",
		".aider.conf.yml", ".clinerules", ".goosehints", ".junie/guidelines.md", ".trae/x", ".augment/rules.md", "src/.github/workflows/x.yml", "CONVENTIONS.md", ".Eslintrc.js",
		"CLAUDE.local.md", "sub/AGENTS.override.md", "CRUSH.md", "replit.md", "go.instructions.md", "lefthook-local.yml",
	} {
		if !plan.Unprotected(name) || plan.Ordinary(name) {
			t.Errorf("%s is ordinary", name)
		}
	}
	for _, name := range []string{".gitignore", "src/.gitkeep", "src/git/config", "mcp.go", "README.md", "package.json", "docs/mcp/x.json", "digit~1", "a.git/x", "cvs.txt", "docs/claude/notes.md", "my-agents.md", "instructions.md"} {
		if !plan.Ordinary(name) {
			t.Errorf("%s is protected", name)
		}
	}
}
