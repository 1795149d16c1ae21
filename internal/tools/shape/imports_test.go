package shape

import (
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
)

// imports checks the imports of every package against its rule. Test files may import anything, except those of a
// module of its own, whose tests a newer root must not break either.
//
// A package below internal or spec counts as a part of each package that imports it, at any depth, so that a rule
// cannot be avoided by way of internal. The chain of imports is printed.
func (t *sourceTree) imports(rules []packageRule) []violation {
	c := &importCheck{tree: t, packages: map[string][]*sourceFile{}}
	for _, f := range t.Files {
		if rule, _ := ruleOf(rules, f.Dir); !f.Test || rule.Leaf {
			c.packages[f.Dir] = append(c.packages[f.Dir], f)
		}
	}
	for dir := range c.packages {
		rule, ok := ruleOf(rules, dir)
		if !ok {
			c.add(dir, "this folder has no rule", "every package has a rule: add one to internal/tools/shape/rules_test.go")
			continue
		}
		c.rules, c.rule, c.seen = rules, rule, map[string]bool{}
		c.visit(dir, nil)
	}
	slices.SortFunc(c.found, func(a, b violation) int { return strings.Compare(a.At+a.What, b.At+b.What) })
	return slices.Compact(c.found)
}

// importCheck is one run over the tree; rule and seen belong to the package being visited.
type importCheck struct {
	tree     *sourceTree
	packages map[string][]*sourceFile // by folder
	rules    []packageRule
	rule     packageRule
	seen     map[string]bool
	found    []violation
}

func (c *importCheck) add(at, what, why string) {
	c.found = append(c.found, violation{At: at, What: what, Reason: why})
}

func (c *importCheck) visit(dir string, chain []string) {
	if c.seen[dir] {
		return
	}
	c.seen[dir] = true
	chain = append(slices.Clip(chain), c.name(dir))
	for _, f := range c.packages[dir] {
		for _, spec := range f.Syntax.Imports {
			c.checkImport(spec, chain)
		}
	}
}

func (c *importCheck) checkImport(spec *ast.ImportSpec, chain []string) {
	imported := importPath(spec)
	through := strings.Join(append(slices.Clip(chain), imported), " → ")
	at := c.tree.at(spec.Pos())
	switch own, isOwn := c.own(imported); {
	case isOwn && c.rule.Leaf && isInternal(own):
		c.add(at, "an internal package of another module is imported: "+through, c.rule.Why)
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
	}
}

// own returns the folder of a package of this module.
func (c *importCheck) own(imported string) (dir string, ok bool) {
	if imported == c.tree.Module {
		return ".", true
	}
	return strings.CutPrefix(imported, c.tree.Module+"/")
}

func isInternal(own string) bool {
	return below(own, "internal") || strings.Contains(own, "/internal/")
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
func ruleOf(rules []packageRule, dir string) (packageRule, bool) {
	for _, r := range rules {
		if below(dir, r.Dir) {
			return r, true
		}
	}
	return packageRule{}, false
}

func below(dir, rule string) bool { return dir == rule || strings.HasPrefix(dir, rule+"/") }

func allows(r packageRule, target string) bool {
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

func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return spec.Path.Value
	}
	return p
}

// guardFile is the only file of the root that may call recover: it runs methods of a caller's types while it builds an error,
// and a panic there would end the process. See docs/decisions/007.
const guardFile = "cause.go"

// lineFolder is the engine of the harness's line protocol, which calls the methods of domains as boundary calls tools.
const lineFolder = "cmd/internal/workbench/harness/line/"

// sqliteFolder opens SQLite, whose library panics when a connection gets no more memory. It recovers from that panic alone.
const sqliteFolder = "cmd/internal/sqlitedb/"

// recovers checks that recover is called only in packages that call foreign code.
func (t *sourceTree) recovers() []violation {
	var found []violation
	for _, f := range t.Files {
		if f.Test || below(f.Dir, "boundary") || f.Dir == "internal/record" || below(f.Dir, "cmd/internal/gateway") || strings.HasPrefix(f.Path, lineFolder) || strings.HasPrefix(f.Path, sqliteFolder) || f.Path == guardFile {
			continue
		}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && isBuiltin(call.Fun, "recover") {
				found = append(found, violation{t.at(call.Pos()), "calls recover",
					"a panic is turned into an error in boundary, internal/record, gateway, " + lineFolder + " and " + sqliteFolder + ", and around a foreign method in the root's " + guardFile +
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
