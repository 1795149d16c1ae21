//go:build unix

package probecmd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe"
)

// TestSARIFRefersToFilesOfTheRepository checks the file of a report for several commands and environments. It changes the working
// directory and a variable, so it does not run in parallel.
func TestSARIFRefersToFilesOfTheRepository(t *testing.T) {
	base := t.TempDir()
	root := filepath.Join(base, "repo")
	for name, text := range map[string]string{
		"repo/.git/HEAD": "", "repo/.github/workflows/ci.yml": "on: push", "repo/dist/index.js": "x", "repo/bin/server": "\x7fELF\x00", "outside.js": "x", "secret.yml": "x",
	} {
		file := filepath.Join(base, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(root, filepath.Join(base, "link")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(root, "dist"))
	const workflow = "owner/name/.github/workflows/ci.yml@refs/heads/main"
	for _, c := range []struct{ name, target, workflow, want string }{
		{"file of the server", "node " + root + "/dist/index.js --port 1", workflow, "dist/index.js"},
		{"relative to the current folder", "node index.js", "", "dist/index.js"},
		{"through a link", "node " + base + "/link/dist/index.js", "", "dist/index.js"},
		{"first file", "node " + base + "/outside.js " + root + "/dist/index.js", "", "dist/index.js"},
		{"compiled server", root + "/bin/server", workflow, ".github/workflows/ci.yml"},
		{"outside", "node " + base + "/outside.js", workflow, ".github/workflows/ci.yml"},
		{"folder", "node " + root + "/dist", "", ""},
		{"workflow outside", "https://example.com/mcp", "owner/name/.github/../../secret.yml@main", ""},
		{"missing workflow", "https://example.com/mcp", "owner/name/.github/workflows/other.yml@main", ""},
	} {
		t.Setenv("GITHUB_WORKFLOW_REF", c.workflow)
		judged := &probe.Report{Server: probe.Server{Target: c.target}}
		if got := sourceFile(repository(), judged); (got == "") != (c.want == "") || got != "" && inside(root, got) != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
