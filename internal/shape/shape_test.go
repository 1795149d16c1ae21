package shape_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/candor-mcp/candor/internal/shape"
	"github.com/candor-mcp/candor/internal/testing/testbinary"
)

// This file holds the repository to the rules; planted_test.go shows that each rule can go red.

const module = "github.com/candor-mcp/candor"

func root(t *testing.T) (dir string, fsys fs.FS) {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir, os.DirFS(dir)
}

// parsed is the repository, parsed once for all tests.
var parsed = sync.OnceValues(func() (*shape.Tree, error) { return shape.Load(os.DirFS(filepath.Join("..", "..")), module) })

func load(t *testing.T) *shape.Tree {
	t.Helper()
	tree, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func report(t *testing.T, found []shape.Violation) {
	t.Helper()
	for _, v := range found {
		t.Error(v)
	}
}

func TestImportsFollowTheLayers(t *testing.T) {
	report(t, load(t).Imports(shape.PackageRules, shape.Exceptions))
}

func TestRecoverIsUsedInTwoPackages(t *testing.T) {
	report(t, load(t).Recovers())
}

func TestFilesAndFunctionsStaySmall(t *testing.T) {
	tree := load(t)
	files, funcs := tree.Largest(10)
	t.Log("the ten largest files:")
	for _, s := range files {
		t.Logf("%5d  %s", s.Lines, s.Name)
	}
	t.Log("the ten largest functions:")
	for _, s := range funcs {
		t.Logf("%5d  %s", s.Lines, s.Name)
	}
	report(t, tree.Sizes())
}

func TestTextNamesNoMachine(t *testing.T) {
	if testing.Short() {
		return // every line of every file, which the race detector makes ten times slower
	}
	_, fsys := root(t)
	found, err := shape.Text(fsys)
	if err != nil {
		t.Fatal(err)
	}
	report(t, found)
}

func TestLinksLeadSomewhere(t *testing.T) {
	_, fsys := root(t)
	found, err := shape.Links(fsys)
	if err != nil {
		t.Fatal(err)
	}
	report(t, found)
}

func TestReadmeIsTrue(t *testing.T) {
	dir, fsys := root(t)
	page, err := fs.ReadFile(fsys, "README.md")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Log("no README.md yet: nothing to compare")
		return
	}
	report(t, shape.Snippets("README.md", string(page)))
	var path string // where our own program is, once a block needs it
	for _, b := range shape.Blocks(string(page)) {
		if b.Program() {
			buildProgram(t, dir, b)
		}
		if b.Output != "" {
			if path == "" {
				path = buildCandor(t)
			}
			if diff := shape.CompareOutput(b, run(t, dir, path, b.Output)); diff != "" {
				t.Errorf("README.md:%d: %s", b.Line, diff)
			}
		}
	}
}

// buildProgram vets the block as a user would: in a module of its own that requires this one.
func buildProgram(t *testing.T, dir string, b shape.Block) {
	t.Helper()
	tmp := t.TempDir()
	writeUserModule(t, dir, tmp, b.Text)
	if out, err := inUserModule(t, tmp, "vet", "-mod=mod", "."); err != nil {
		t.Errorf("README.md:%d: the program does not compile: %v\n%s", b.Line, err, out)
	}
}

// buildCandor builds the binary and returns a PATH that finds it first.
func buildCandor(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	if err := testbinary.Build(t.Context(), filepath.Join(bin, "candor"), false); err != nil {
		t.Fatal(err)
	}
	return bin + string(os.PathListSeparator) + os.Getenv("PATH")
}

// run returns what a terminal would show; a command that is meant to fail may do so.
func run(t *testing.T, dir, path, command string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+path, "NO_COLOR=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Logf("%s: %v", command, err)
	}
	return string(out)
}
