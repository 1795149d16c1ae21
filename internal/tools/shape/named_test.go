package shape

import (
	"fmt"
	"go/ast"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestArchitectureNamesDeclarationsThatExist(t *testing.T) {
	t.Parallel()
	count, found := load(t).namedDeclarations("docs/architecture.md", architecture(t))
	report(t, found)
	if count < 20 {
		t.Errorf("the page names %d declarations, want at least 20: the two walks name the function of each step", count)
	}
}

// TestArchitectureNamesEveryPackage checks the table of packages in both directions. Helpers of tests, main packages and generated codes
// are not listed one by one.
func TestArchitectureNamesEveryPackage(t *testing.T) {
	t.Parallel()
	_, table, _ := strings.Cut(architecture(t), "\n## Packages\n")
	table, _, _ = strings.Cut(table, "\n## ")
	folders := map[string]bool{"candor": true} // the package in the root
	for _, f := range load(t).Files {
		for dir := f.Dir; dir != "."; dir = path.Dir(dir) {
			folders[dir] = true
		}
	}
	listed := listedPackages(t, table, folders)
	for _, f := range load(t).Files {
		if !listed[f.Dir] && !f.Test && f.Syntax.Name.Name != "main" && f.Dir != "." && !unlisted.MatchString(f.Dir) {
			t.Errorf("docs/architecture.md does not name the package of %s", f.Path)
		}
	}
}

var unlisted = regexp.MustCompile(`^codes/|^examples/|(^|/)internal/testing/`)

// listedPackages returns the folders that the first two columns of a table name. A name may be short for one below or beside a folder
// that was named before it in the same row. Each name in the first column must be a folder.
func listedPackages(t *testing.T, table string, folders map[string]bool) map[string]bool {
	listed := map[string]bool{}
	for line := range strings.Lines(table) {
		var row []string
		for column, cell := range strings.SplitN(line+"|||", "|", 4)[:3] {
			for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
				name, known := strings.TrimSuffix(m[1], "/…"), len(row)
				for _, dir := range append([]string{"."}, row...) {
					for _, full := range []string{path.Join(dir, name), path.Join(path.Dir(dir), name)} {
						if folders[full] && !slices.Contains(row, full) {
							row, listed[full] = append(row, full), true
						}
					}
				}
				if column == 1 && len(row) == known && !strings.Contains(name, "<") {
					t.Errorf("docs/architecture.md: there is no package %s", name)
				}
			}
		}
	}
	return listed
}

var quoted = regexp.MustCompile("`([^`]+)`")

func architecture(t *testing.T) string {
	t.Helper()
	_, fsys := root(t)
	page, err := fs.ReadFile(fsys, "docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// named matches a file and one of its declarations in a page: `boundary/call.go` `call.fail`.
var named = regexp.MustCompile("`([a-z0-9_/.-]+\\.go)` `([A-Za-z0-9_.]+)`")

// namedDeclarations checks that every declaration a page names is in the file that it names, and reports how many it found.
func (t *sourceTree) namedDeclarations(name, page string) (count int, found []violation) {
	declared := map[string][]string{}
	for _, f := range t.Files {
		declared[f.Path] = declarations(f)
	}
	number := 0
	for line := range strings.Lines(page) {
		number++
		for _, m := range named.FindAllStringSubmatch(line, -1) {
			count++
			if !slices.Contains(declared[m[1]], m[2]) {
				found = append(found, violation{fmt.Sprintf("%s:%d", name, number), fmt.Sprintf("%s does not declare %s", m[1], m[2]),
					"a reader follows these names into the source"})
			}
		}
	}
	return count, found
}

// declarations returns the names of a file's functions, methods (as Type.Method), types, variables and constants.
func declarations(f *sourceFile) []string {
	var out []string
	for _, d := range f.Syntax.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			out = append(out, funcName(d))
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					out = append(out, s.Name.Name)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						out = append(out, n.Name)
					}
				}
			}
		}
	}
	return out
}
