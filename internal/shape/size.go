package shape

import (
	"fmt"
	"go/ast"
	"slices"
)

// Limits in lines. They make a file or function visible while it is small that absorbs each later special case.
const (
	maxFile     = 500
	maxTestFile = 800
	maxFunc     = 60 // a longer one needs a comment
	maxMain     = 20
)

// Sized is a file or function with its length.
type Sized struct {
	Name  string
	Lines int
}

// Sizes checks every file except generated ones.
func (t *Tree) Sizes() []Violation {
	var found []Violation
	for _, f := range t.Files {
		if f.Generated {
			continue
		}
		limit := maxFile
		if f.Test {
			limit = maxTestFile
		}
		if f.Lines > limit {
			found = append(found, Violation{f.Path, fmt.Sprintf("%d lines, more than %d", f.Lines, limit),
				"one file, one noun: split it"})
		}
		for _, fn := range functions(f) {
			found = append(found, t.checkFunc(f, fn)...)
		}
	}
	return found
}

func (t *Tree) checkFunc(f *File, fn *ast.FuncDecl) []Violation {
	lines := t.funcLines(fn)
	if f.Syntax.Name.Name == "main" && fn.Recv == nil && fn.Name.Name == "main" && lines > maxMain {
		return []Violation{{t.at(fn.Pos()), fmt.Sprintf("main has %d lines, more than %d", lines, maxMain),
			"main cannot be tested: move its code to a function that can"}}
	}
	if lines > maxFunc && fn.Doc == nil {
		return []Violation{{t.at(fn.Pos()), fmt.Sprintf("%s has %d lines, more than %d, and no comment above it", fn.Name.Name, lines, maxFunc),
			"a long function needs a sentence above it that says why it is one thing"}}
	}
	return nil
}

// Largest returns the n largest files and functions, longest first, without generated ones.
func (t *Tree) Largest(n int) (files, funcs []Sized) {
	for _, f := range t.Files {
		if f.Generated {
			continue
		}
		files = append(files, Sized{f.Path, f.Lines})
		for _, fn := range functions(f) {
			funcs = append(funcs, Sized{t.at(fn.Pos()) + " " + fn.Name.Name, t.funcLines(fn)})
		}
	}
	longest := func(a, b Sized) int { return b.Lines - a.Lines }
	slices.SortStableFunc(files, longest)
	slices.SortStableFunc(funcs, longest)
	return files[:min(n, len(files))], funcs[:min(n, len(funcs))]
}

func (t *Tree) funcLines(fn *ast.FuncDecl) int { return t.line(fn.End()) - t.line(fn.Pos()) + 1 }

func functions(f *File) []*ast.FuncDecl {
	var out []*ast.FuncDecl
	for _, d := range f.Syntax.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			out = append(out, fn)
		}
	}
	return out
}
