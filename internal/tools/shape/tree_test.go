// Package shape checks what a compiler does not: which package imports which, how large files grow, whether the README is true.
// Each check takes a tree and returns violations.
package shape

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// violation is one broken rule: where, what, and why the rule exists.
type violation struct {
	At     string // file, or file:line
	What   string
	Reason string
}

// String returns the violation as one line with its reason below.
func (v violation) String() string {
	return fmt.Sprintf("%s: %s\n\twhy: %s", v.At, v.What, v.Reason)
}

// sourceTree is the parsed Go source of a module.
type sourceTree struct {
	Module string
	Files  []*sourceFile
	fset   *token.FileSet
}

// sourceFile is one Go source file.
type sourceFile struct {
	Path      string // slash path from the module's root
	Dir       string // "." for the root
	Test      bool
	Generated bool
	Lines     int
	Syntax    *ast.File
}

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// parseTree parses every Go file that belongs to the module: what the go command ignores (testdata,
// vendor, dot and underscore folders, files tagged "ignore") is left out here too.
func parseTree(fsys fs.FS, module string) (*sourceTree, error) {
	t := &sourceTree{Module: module, fset: token.NewFileSet()}
	err := walk(fsys, func(name string, data []byte) error {
		if path.Ext(name) != ".go" || strings.Contains("/"+name, "/testdata/") || ignored(data) {
			return nil
		}
		syntax, err := parser.ParseFile(t.fset, name, data, parser.ParseComments)
		if err != nil {
			return err
		}
		t.Files = append(t.Files, &sourceFile{
			Path:      name,
			Dir:       path.Dir(name),
			Test:      strings.HasSuffix(name, "_test.go"),
			Generated: generated.Match(data),
			Lines:     bytes.Count(data, []byte("\n")),
			Syntax:    syntax,
		})
		return nil
	})
	return t, err
}

func (t *sourceTree) at(pos token.Pos) string {
	p := t.fset.Position(pos)
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// ignored reports whether a build line keeps the file out of every build ("//go:build ignore").
func ignored(src []byte) bool {
	for line := range strings.Lines(string(src)) {
		if strings.HasPrefix(line, "package ") {
			return false
		}
		if !constraint.IsGoBuild(line) {
			continue
		}
		expr, err := constraint.Parse(strings.TrimSpace(line))
		return err == nil && !expr.Eval(func(tag string) bool { return tag != "ignore" })
	}
	return false
}

// walk calls visit for every file of the module, except below folders the go command ignores.
// Dot folders that hold our own text (.ci, .github) are visited.
func walk(fsys fs.FS, visit func(name string, data []byte) error) error {
	return fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skipDir(d.Name())
		}
		if !d.Type().IsRegular() || name == ".git" { // a file in a second worktree
			return nil
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		return visit(name, data)
	})
}

func skipDir(base string) error {
	switch {
	case base == "." || base == ".ci" || base == ".github":
		return nil
	case base == "vendor" || base == "node_modules" || base == "__pycache__",
		strings.HasPrefix(base, "."), strings.HasPrefix(base, "_"):
		return fs.SkipDir
	default:
		return nil
	}
}
