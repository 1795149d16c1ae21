package shape

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/printer"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/api.txt anew")

// maxPublicNames is how many names all public packages may export together, without generated codes. A name that is exported is a
// promise: prefer internal until a user asks for it.
const maxPublicNames = 420

// TestAPIIsAsWritten fails when the public API changes without its written list.
func TestAPIIsAsWritten(t *testing.T) {
	file := filepath.Join("testdata", "api.txt")
	got := strings.Join(load(t).api().Lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := string(data)
	if got == want {
		return
	}
	report := func(sign, lines, others string) {
		for line := range strings.Lines(lines) {
			if !strings.Contains("\n"+others, "\n"+line) {
				t.Errorf("%s %s", sign, strings.TrimSuffix(line, "\n"))
			}
		}
	}
	report("-", want, got)
	report("+", got, want)
	t.Error("the public API differs from testdata/api.txt; if that is intended: go test ./internal/tools/shape -run API -update")
}

func TestAPIStaysSmall(t *testing.T) {
	n := load(t).api().Names
	t.Logf("%d public names", n)
	if n > maxPublicNames {
		t.Errorf("%d public names, more than %d: move some under internal", n, maxPublicNames)
	}
}

// publicAPI is the public surface of the repository: what a user of any of its modules can name.
type publicAPI struct {
	Lines []string // one for each exported name, sorted by package
	Names int      // types, functions, methods, constants and variables, without generated codes
}

// api lists the exported names of every package that a user can import.
func (t *sourceTree) api() publicAPI {
	var a publicAPI
	seen := map[string]bool{} // declared for several systems in files of their own
	for _, f := range t.Files {
		if f.Test || f.Syntax.Name.Name == "main" || !isPublic(f.Dir) {
			continue
		}
		p := apiPrinter{fset: t.fset, pkg: path.Join(t.Module, f.Dir)}
		for _, d := range f.Syntax.Decls {
			p.declaration(d)
		}
		for _, line := range p.lines {
			if seen[line.text] {
				continue
			}
			seen[line.text] = true
			a.Lines = append(a.Lines, line.text)
			if line.isName && !f.Generated {
				a.Names++
			}
		}
	}
	slices.Sort(a.Lines)
	return a
}

// isPublic reports whether a user of a module can import the package in this folder.
func isPublic(dir string) bool {
	for _, part := range strings.Split(dir, "/") {
		if part == "internal" || part == "cmd" || part == "examples" || part == "bench" {
			return false
		}
	}
	return true
}

// apiPrinter writes the exported declarations of one file.
type apiPrinter struct {
	fset  *token.FileSet
	pkg   string
	lines []apiLine
}

type apiLine struct {
	text   string
	isName bool // false for a field of a struct or a method of an interface
}

func (p *apiPrinter) add(isName bool, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	p.lines = append(p.lines, apiLine{"pkg " + p.pkg + ", " + strings.Join(strings.Fields(text), " "), isName})
}

func (p *apiPrinter) declaration(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		p.function(d)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				p.typeSpec(spec)
			case *ast.ValueSpec:
				p.values(d.Tok, spec)
			}
		}
	}
}

func (p *apiPrinter) function(d *ast.FuncDecl) {
	if !d.Name.IsExported() {
		return
	}
	signature := strings.TrimPrefix(p.source(d.Type), "func")
	if d.Recv == nil {
		p.add(true, "func %s%s", d.Name, signature)
		return
	}
	receiver := p.source(d.Recv.List[0].Type)
	if ast.IsExported(strings.TrimPrefix(receiver, "*")) {
		p.add(true, "method (%s) %s%s", receiver, d.Name, signature)
	}
}

func (p *apiPrinter) values(kind token.Token, spec *ast.ValueSpec) {
	for _, name := range spec.Names {
		if !name.IsExported() {
			continue
		}
		if spec.Type != nil {
			p.add(true, "%s %s %s", kind, name, p.source(spec.Type))
			continue
		}
		p.add(true, "%s %s", kind, name)
	}
}

func (p *apiPrinter) typeSpec(spec *ast.TypeSpec) {
	if !spec.Name.IsExported() {
		return
	}
	name := spec.Name.Name
	switch t := spec.Type.(type) {
	case *ast.StructType:
		p.add(true, "type %s struct", name)
		p.members(name+" struct", t.Fields)
	case *ast.InterfaceType:
		p.add(true, "type %s interface", name)
		p.members(name+" interface", t.Methods)
	default:
		p.add(true, "type %s %s", name, p.source(spec.Type))
	}
}

// members lists exported fields, or the methods of an interface.
func (p *apiPrinter) members(of string, list *ast.FieldList) {
	for _, f := range list.List {
		written := p.source(f.Type)
		if len(f.Names) == 0 {
			p.add(false, "type %s, %s", of, written)
		}
		for _, name := range f.Names {
			if name.IsExported() {
				p.add(false, "type %s, %s %s", of, name, strings.TrimPrefix(written, "func"))
			}
		}
	}
}

// source prints a node without its comments.
func (p *apiPrinter) source(node ast.Node) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, p.fset, node); err != nil {
		return err.Error()
	}
	return b.String()
}
