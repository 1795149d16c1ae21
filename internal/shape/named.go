package shape

import (
	"fmt"
	"go/ast"
	"regexp"
	"slices"
	"strings"
)

// named matches a file and one of its declarations in a page: `boundary/call.go` `call.fail`.
var named = regexp.MustCompile("`([a-z0-9_/.-]+\\.go)` `([A-Za-z0-9_.]+)`")

// NamedDeclarations checks that every declaration a page names is in the file that it names, and reports how many it found.
func (t *Tree) NamedDeclarations(name, page string) (count int, found []Violation) {
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
				found = append(found, Violation{fmt.Sprintf("%s:%d", name, number), fmt.Sprintf("%s does not declare %s", m[1], m[2]),
					"a reader follows these names into the source"})
			}
		}
	}
	return count, found
}

// declarations returns the names of a file's functions, methods (as Type.Method), types, variables and constants.
func declarations(f *File) []string {
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
