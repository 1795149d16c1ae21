package checklist

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// Func is a test function of the module.
type Func struct {
	Dir  string // its folder, from the root of the module, with slashes
	Name string
}

// Module is a Go module on the disk, with the modules below it that its go.work names.
type Module struct {
	Root   string // the folder of its go.mod
	Path   string // as it is imported
	Tests  []Func // that are built on this platform, in the order of their files
	Checks []Func // tests, benchmarks and fuzz targets of every platform
}

// Open reads the module in a folder. Nothing is compiled: a test is known by its declaration.
func Open(root string) (*Module, error) {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, err
	}
	m := &Module{Root: root, Path: modfile.ModulePath(text)}
	if m.Path == "" {
		return nil, fmt.Errorf("%s: no module line", filepath.Join(root, "go.mod"))
	}
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return m.enter(name, d)
		case strings.HasSuffix(name, "_test.go"):
			return m.read(name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// enter skips the folders that the go command sees neither as part of the module nor as another module of its workspace.
func (m *Module) enter(name string, d fs.DirEntry) error {
	if name == m.Root {
		return nil
	}
	if base := d.Name(); base == "testdata" || base == "vendor" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil && !m.isWorkspaceModule(name) {
		return fs.SkipDir
	}
	return nil
}

// isWorkspaceModule reports whether go.work in the root names the module in this folder.
func (m *Module) isWorkspaceModule(folder string) bool {
	text, err := os.ReadFile(filepath.Join(m.Root, "go.work"))
	if err != nil {
		return false
	}
	work, err := modfile.ParseWork("go.work", text, nil)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(work.Use, func(u *modfile.Use) bool { return filepath.Join(m.Root, filepath.FromSlash(u.Path)) == folder })
}

// read adds the tests of a file.
func (m *Module) read(name string) error {
	built, err := build.Default.MatchFile(filepath.Dir(name), filepath.Base(name))
	if err != nil {
		return err
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	dir, err := filepath.Rel(m.Root, filepath.Dir(name))
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || !isCheck(f.Name.Name) {
			continue
		}
		found := Func{filepath.ToSlash(dir), f.Name.Name}
		m.Checks = append(m.Checks, found)
		if built && strings.HasPrefix(found.Name, "Test") {
			m.Tests = append(m.Tests, found)
		}
	}
	return nil
}

// isCheck reports whether the go command runs a function of this name.
func isCheck(name string) bool {
	for _, prefix := range []string{"Test", "Benchmark", "Fuzz"} {
		if strings.HasPrefix(name, prefix) && name != "TestMain" {
			return true
		}
	}
	return false
}

// Matching returns the tests whose names match.
func (m *Module) Matching(pattern *regexp.Regexp) []Func {
	var out []Func
	for _, f := range m.Tests {
		if pattern.MatchString(f.Name) {
			out = append(out, f)
		}
	}
	return out
}
