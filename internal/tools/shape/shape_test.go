package shape

import (
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// This file holds the repository to the rules.

const module = "github.com/candor-mcp/candor"

func root(t *testing.T) (dir string, fsys fs.FS) {
	t.Helper()
	dir, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir, os.DirFS(dir)
}

// parsed is the repository, parsed once for all tests.
var parsed = sync.OnceValues(func() (*sourceTree, error) { return parseTree(os.DirFS(filepath.Join("..", "..", "..")), module) })

func load(t *testing.T) *sourceTree {
	t.Helper()
	tree, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func report(t *testing.T, found []violation) {
	t.Helper()
	for _, v := range found {
		t.Error(v)
	}
}

func TestImportsFollowTheLayers(t *testing.T) {
	report(t, load(t).imports(packageRules))
}

func TestRecoverIsUsedInTwoPackages(t *testing.T) {
	report(t, load(t).recovers())
}

// TestFilesStaySmall makes a file visible while it is small that absorbs each later special case.
func TestFilesStaySmall(t *testing.T) {
	for _, f := range load(t).Files {
		limit := 500
		if f.Test {
			limit = 800
		}
		if f.Lines > limit && !f.Generated {
			t.Errorf("%s: %d lines, more than %d: split it", f.Path, f.Lines, limit)
		}
	}
}

// TestFoldersHaveTheNamesOfTheirPackages lets a reader find a package by the name that its importers use.
func TestFoldersHaveTheNamesOfTheirPackages(t *testing.T) {
	for _, f := range load(t).Files {
		name, folder := strings.TrimSuffix(f.Syntax.Name.Name, "_test"), path.Base(f.Dir)
		if name != folder && name != "main" && f.Dir != "." {
			t.Errorf("%s: package %s is in folder %s", f.Path, name, folder)
		}
	}
}

func TestTextNamesNoMachine(t *testing.T) {
	if testing.Short() {
		return // every line of every file, which the race detector makes ten times slower
	}
	_, fsys := root(t)
	found, err := checkText(fsys)
	if err != nil {
		t.Fatal(err)
	}
	report(t, found)
}

func TestLinksLeadSomewhere(t *testing.T) {
	_, fsys := root(t)
	found, err := checkLinks(fsys)
	if err != nil {
		t.Fatal(err)
	}
	report(t, found)
}

// TestReadmeHasProgramsThatCompile leaves the transcripts to internal/tools/readme, which runs their commands.
func TestReadmeHasProgramsThatCompile(t *testing.T) {
	dir, fsys := root(t)
	page, err := fs.ReadFile(fsys, "README.md")
	if err != nil {
		t.Fatal(err)
	}
	report(t, checkSnippets("README.md", string(page)))
	for _, b := range Blocks(string(page)) {
		if isProgram(b) {
			buildProgram(t, dir, b)
		}
	}
}

// buildProgram vets the block as a user would: in a module of its own that requires this one.
func buildProgram(t *testing.T, dir string, b Block) {
	t.Helper()
	tmp := t.TempDir()
	writeUserModule(t, dir, tmp, b.Text)
	if out, err := inUserModule(t, tmp, "vet", "-mod=mod", "."); err != nil {
		t.Errorf("README.md:%d: the program does not compile: %v\n%s", b.Line, err, out)
	}
}

// isProgram reports whether the block is a whole Go program rather than a fragment.
func isProgram(b Block) bool { return b.Lang == "go" && strings.Contains("\n"+b.Text, "\npackage ") }

// transcript matches a line on which one of our commands is typed.
var transcript = regexp.MustCompile(`(?m)^\$ (?:candor|go run \./cmd/candor)\b`)

// checkSnippets checks what can be checked without running anything: Go fragments parse, and a
// transcript of our own program carries the mark that makes [CompareOutput] run it.
func checkSnippets(name, page string) []violation {
	var found []violation
	for _, b := range Blocks(page) {
		at := fmt.Sprintf("%s:%d", name, b.Line)
		if b.Lang == "go" {
			if _, err := format.Source([]byte(b.Text)); err != nil {
				found = append(found, violation{at, "this Go does not parse: " + err.Error(), "the first thing a reader does is copy it"})
			}
		}
		if b.Output == "" && transcript.MatchString(b.Text) {
			found = append(found, violation{at, "a transcript without <!-- output: CMD --> above it", "an unmarked transcript is never compared with the program and goes stale unseen"})
		}
	}
	return found
}
