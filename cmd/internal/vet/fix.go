package vet

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/tools/go/ast/astutil"
)

// edit replaces the bytes of a file between two offsets.
type edit struct {
	file     string
	from, to int
	text     string
}

// clash reports whether two edits conflict: they change the same bytes, or insert different texts at the same position.
func (e edit) clash(other edit) bool {
	return e.file == other.file && e != other && (e.from < other.to && other.from < e.to || e.from == other.from)
}

// Fixed is the result of applying fixes.
type Fixed struct {
	Files []string // written files, relative as in [Finding]
	After *Report  // the remaining findings
}

// Fix applies the first fix of every finding that has one. It first compiles and analyses the packages with the fixes: if they
// do not compile, it writes nothing and returns a [*BrokenError]; if ctx ends before, it also writes nothing.
// Each file is replaced atomically. If one cannot be written, Fixed lists those written before it.
func (r *Report) Fix(ctx context.Context) (*Fixed, error) {
	fresh, err := r.fixed()
	if err != nil {
		return nil, err
	}
	if len(fresh) == 0 {
		return &Fixed{After: r}, nil
	}
	after, err := r.config.analyse(ctx, fresh)
	if err != nil {
		return nil, err
	}
	done := &Fixed{After: after}
	for _, name := range slices.Sorted(maps.Keys(fresh)) {
		if err := replaceFile(name, fresh[name]); err != nil {
			return done, fmt.Errorf("writing %s: %w", name, err)
		}
		done.Files = append(done.Files, r.config.relative(name))
	}
	return done, nil
}

// fixed returns the new contents of the files that change.
func (r *Report) fixed() (map[string][]byte, error) {
	accepted := map[string][]edit{}
	for _, f := range r.Findings {
		if fits(accepted, f.edits) {
			for _, e := range f.edits {
				if !slices.Contains(accepted[e.file], e) { // two fixes may add the same import
					accepted[e.file] = append(accepted[e.file], e)
				}
			}
		}
	}
	fresh := map[string][]byte{}
	for name, edits := range accepted {
		old, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		text, err := apply(old, edits)
		if err != nil {
			return nil, fmt.Errorf("%s: changed while it was analysed: %w", name, err)
		}
		if fresh[name], err = tidy(old, text); err != nil {
			return nil, fmt.Errorf("fixing %s: %w", name, err)
		}
	}
	return fresh, nil
}

// fits reports whether none of the edits conflicts with accepted ones. A fix is applied completely or not at all.
func fits(accepted map[string][]edit, edits []edit) bool {
	for _, e := range edits {
		if slices.ContainsFunc(accepted[e.file], e.clash) {
			return false
		}
	}
	return true
}

var errShorter = errors.New("the file is shorter than before")

func apply(old []byte, edits []edit) ([]byte, error) {
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	var out bytes.Buffer
	at := 0
	for _, e := range edits {
		if e.from < at || e.to > len(old) {
			return nil, errShorter
		}
		out.Write(old[at:e.from])
		out.WriteString(e.text)
		at = e.to
	}
	out.Write(old[at:])
	return out.Bytes(), nil
}

// tidy removes imports that the edits made unused, and formats the file. A file that was not formatted before is not formatted
// unless an import is removed, so that white space changes do not hide the fix.
func tidy(old, text []byte) ([]byte, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	before, err := parser.ParseFile(token.NewFileSet(), "", old, 0)
	if err != nil {
		return nil, err
	}
	fewer := false
	for _, spec := range slices.Clone(file.Imports) {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err == nil && becameUnused(before, file, imported, spec) {
			fewer = astutil.DeleteNamedImport(fset, file, nameOf(spec), imported) || fewer
		}
	}
	if formatted, err := format.Source(old); !fewer && (err != nil || !bytes.Equal(formatted, old)) {
		return text, nil
	}
	var out bytes.Buffer
	if err := format.Node(&out, fset, file); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// becameUnused reports whether an import was used before and is not used after. An import without a visible use before is kept,
// because the name of its package may differ from its path.
func becameUnused(before, after *ast.File, imported string, spec *ast.ImportSpec) bool {
	name := nameOf(spec)
	if name == "" {
		name = path.Base(imported)
	}
	return selects(before, name) && !selects(after, name)
}

func nameOf(spec *ast.ImportSpec) string {
	if spec.Name == nil {
		return ""
	}
	return spec.Name.Name
}

// selects reports whether name.X occurs in a file.
func selects(file *ast.File, name string) bool {
	yes := false
	ast.Inspect(file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			id, ok := sel.X.(*ast.Ident)
			yes = yes || ok && id.Name == name
		}
		return !yes
	})
	return yes
}

// replaceFile replaces a file, following a link and keeping the permissions. A crash leaves the old
// or the new file, never a part of one, and at worst a hidden temporary file beside it.
func replaceFile(name string, data []byte) error {
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	info, err := os.Stat(target)
	if err != nil {
		return err
	}
	half, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*")
	if err != nil {
		return err
	}
	_, err = half.Write(data)
	if err == nil {
		err = half.Chmod(info.Mode().Perm())
	}
	if err == nil {
		err = half.Sync()
	}
	if err = errors.Join(err, half.Close()); err == nil {
		err = os.Rename(half.Name(), target)
	}
	if err != nil {
		return errors.Join(err, os.Remove(half.Name()))
	}
	return nil
}
