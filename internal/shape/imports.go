package shape

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Imports checks the imports of every package against its rule. Test files may import anything.
//
// A package below internal or spec counts as a part of each package that imports it, at any depth, so that a rule
// cannot be avoided by way of internal. The chain of imports is printed.
func (t *Tree) Imports(rules []PackageRule, exceptions []Exception) []Violation {
	c := &importCheck{tree: t, exceptions: exceptions, packages: map[string][]*File{}}
	for _, f := range t.Files {
		if !f.Test {
			c.packages[f.Dir] = append(c.packages[f.Dir], f)
		}
	}
	for dir := range c.packages {
		rule, ok := ruleOf(rules, dir)
		if !ok {
			c.add(dir, "this folder has no rule", "every package has a rule: add one to internal/shape/rules.go")
			continue
		}
		c.rules, c.rule, c.seen = rules, rule, map[string]bool{}
		c.visit(dir, nil)
	}
	slices.SortFunc(c.found, func(a, b Violation) int { return strings.Compare(a.At+a.What, b.At+b.What) })
	return slices.Compact(c.found)
}

// importCheck is one run over the tree; rule and seen belong to the package being visited.
type importCheck struct {
	tree       *Tree
	exceptions []Exception
	packages   map[string][]*File // by folder, without tests
	rules      []PackageRule
	rule       PackageRule
	seen       map[string]bool
	found      []Violation
}

func (c *importCheck) add(at, what, why string) {
	c.found = append(c.found, Violation{At: at, What: what, Reason: why})
}

func (c *importCheck) visit(dir string, chain []string) {
	if c.seen[dir] {
		return
	}
	c.seen[dir] = true
	chain = append(slices.Clip(chain), c.name(dir))
	for _, f := range c.packages[dir] {
		for _, spec := range f.Syntax.Imports {
			c.checkImport(f, spec, chain)
		}
		if c.rule.Pure {
			c.checkEffects(f, chain)
		}
	}
}

func (c *importCheck) checkImport(f *File, spec *ast.ImportSpec, chain []string) {
	imported := importPath(spec)
	through := strings.Join(append(slices.Clip(chain), imported), " → ")
	at := c.tree.at(spec.Pos())
	switch own, isOwn := c.own(imported); {
	case isOwn && c.isShared(own):
		c.visit(own, chain)
	case isOwn && below(own, c.rule.Dir):
	case isOwn:
		if target, _ := ruleOf(c.rules, own); !allows(c.rule, target.Dir) {
			c.add(at, "forbidden import "+through, c.rule.Why)
		}
	case isSDK(imported):
		if !c.rule.SDK {
			c.add(at, "an MCP SDK is imported: "+through, "only boundary, workbench, examples and tests see an SDK; "+c.rule.Why)
		}
	case isOutside(imported):
		if !c.rule.Outside {
			c.add(at, "an outside module is imported: "+through, c.rule.Why)
		}
	case c.rule.Pure:
		if effect := effectOf(imported); effect != "" && c.exception(f, imported) == nil {
			c.add(at, fmt.Sprintf("%s, which %s: %s", imported, effect, through), c.rule.Why)
		}
	}
}

// checkEffects finds goroutines and calls in a file of a pure package that its imports do not show.
func (c *importCheck) checkEffects(f *File, chain []string) {
	names := localNames(f.Syntax)
	suffix := ""
	if len(chain) > 1 {
		suffix = " (" + strings.Join(chain, " → ") + ")"
	}
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			c.add(c.tree.at(n.Pos()), "starts a goroutine"+suffix, c.rule.Why)
		case *ast.SelectorExpr:
			if what := c.selector(f, names, n); what != "" {
				c.add(c.tree.at(n.Pos()), what+suffix, c.rule.Why)
			}
		}
		return true
	})
}

// selector describes what is wrong with pkg.Name; "" means nothing is.
func (c *importCheck) selector(f *File, names map[string]string, n *ast.SelectorExpr) string {
	x, ok := n.X.(*ast.Ident)
	if !ok || names[x.Name] == "" {
		return ""
	}
	imported := names[x.Name]
	if slices.Contains(calls[imported], n.Sel.Name) {
		return "uses " + imported + "." + n.Sel.Name
	}
	if e := c.exception(f, imported); e != nil && !regexp.MustCompile("^(?:"+e.Names+")$").MatchString(n.Sel.Name) {
		return fmt.Sprintf("uses %s.%s; only %s may be used here, because %s", imported, n.Sel.Name, e.Names, e.Why)
	}
	return ""
}

func (c *importCheck) exception(f *File, imported string) *Exception {
	for i, e := range c.exceptions {
		if e.Dir == f.Dir && e.Import == imported {
			return &c.exceptions[i]
		}
	}
	return nil
}

// own returns the folder of a package of this module.
func (c *importCheck) own(imported string) (dir string, ok bool) {
	if imported == c.tree.Module {
		return ".", true
	}
	return strings.CutPrefix(imported, c.tree.Module+"/")
}

// isShared reports whether a package counts as a part of every package that imports it.
func (c *importCheck) isShared(own string) bool {
	row, _ := ruleOf(c.rules, own)
	return row.Dir == "internal" || row.Dir == "codes" || row.Dir == "spec" || row.Dir == "cmd/internal"
}

func (c *importCheck) name(dir string) string {
	if dir == "." {
		return path.Base(c.tree.Module)
	}
	return dir
}

// ruleOf returns the first rule that covers a folder; a rule covers everything below its folder.
func ruleOf(rules []PackageRule, dir string) (PackageRule, bool) {
	for _, r := range rules {
		if below(dir, r.Dir) {
			return r, true
		}
	}
	return PackageRule{}, false
}

func below(dir, rule string) bool { return dir == rule || strings.HasPrefix(dir, rule+"/") }

func allows(r PackageRule, target string) bool {
	return target != "" && (slices.Contains(r.Own, "*") && !below(target, "cmd/candor") && !below(target, "cmd/internal/cli") || slices.Contains(r.Own, target))
}

func isSDK(imported string) bool {
	return slices.ContainsFunc(sdks, func(m string) bool {
		return below(imported, m)
	})
}

// isOutside reports whether a path belongs to another module: its first element has a dot.
func isOutside(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return strings.Contains(first, ".") || imported == "C"
}

func effectOf(imported string) string {
	if slices.Contains(harmless, imported) {
		return ""
	}
	if effect := effects[imported]; effect != "" {
		return effect
	}
	for prefix, effect := range effects {
		if strings.HasSuffix(prefix, "/") && strings.HasPrefix(imported, prefix) {
			return effect
		}
	}
	return ""
}

func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return spec.Path.Value
	}
	return p
}

// localNames maps the names a file knows packages by to their import paths. The last element
// stands for the package's name, which is right for the standard library and good enough for our own packages.
func localNames(f *ast.File) map[string]string {
	names := map[string]string{}
	for _, spec := range f.Imports {
		p := importPath(spec)
		if spec.Name != nil {
			names[spec.Name.Name] = p
			continue
		}
		base := path.Base(p)
		if base == "v2" { // math/rand/v2
			base = path.Base(path.Dir(p))
		}
		names[base] = p
	}
	return names
}

// guardFile is the only file of the root that may call recover: it runs methods of a caller's types while it builds an error,
// and a panic there would end the process. See docs/decisions/007.
const guardFile = "guard.go"

// userCodeFolder calls methods that a user has defined, for boundary and client.
const userCodeFolder = "internal/usercode"

// lineFolder is the engine of the harness's line protocol, which calls the methods of domains as boundary calls tools.
const lineFolder = "cmd/internal/workbench/harness/line/"

// sqliteFolder opens SQLite, whose library panics when a connection gets no more memory. It recovers from that panic alone.
const sqliteFolder = "cmd/internal/sqlitedb/"

// Recovers checks that recover is called only in packages that call foreign code.
func (t *Tree) Recovers() []Violation {
	var found []Violation
	for _, f := range t.Files {
		if f.Test || below(f.Dir, "boundary") || f.Dir == userCodeFolder || below(f.Dir, "cmd/internal/gateway") || strings.HasPrefix(f.Path, lineFolder) || strings.HasPrefix(f.Path, sqliteFolder) || f.Path == guardFile {
			continue
		}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && isBuiltin(call.Fun, "recover") {
				found = append(found, Violation{t.at(call.Pos()), "calls recover",
					"a panic is turned into an error in boundary, " + userCodeFolder + ", gateway, " + lineFolder + " and " + sqliteFolder + ", and around a foreign method in the root's " + guardFile +
						"; anywhere else it would hide a bug"})
			}
			return true
		})
	}
	return found
}

func isBuiltin(fun ast.Expr, name string) bool {
	id, ok := fun.(*ast.Ident)
	return ok && id.Name == name
}
