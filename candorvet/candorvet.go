// Package candorvet finds, before a server runs, the ways in which a tool handler is dishonest about failure: an error that leaves
// without a code, a failure dressed as a success, an error that is logged and forgotten, and one that is dropped.
//
// It is an analyser for golang.org/x/tools/go/analysis and knows handlers of github.com/modelcontextprotocol/go-sdk and of
// github.com/mark3labs/mcp-go by their signatures: tools, prompts and resources. Test files and generated files are not looked at.
//
// A comment suppresses one rule on one line, the one it stands on or the one below it, and must say why:
//
//	n, _ := strconv.Atoi(s) //candor:allow swallowed zero is the default
//
// The rules read one package at a time and report only what they can see there.
package candorvet

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Options chooses what an analyser looks for. The zero value looks for every rule, in handlers only.
type Options struct {
	// All applies the rules that make sense outside of handlers, logandcontinue and swallowed, to every function.
	All bool
	// Rules names the rules to apply; none means all of [Rules]. An unknown name makes the run fail.
	Rules []string
}

// Analyzer applies every rule to the handlers of a package. Its flags -all and -rules are those of [Options].
var Analyzer = New(Options{})

// New returns a new analyser, so that two runs in one process may differ.
func New(o Options) *analysis.Analyzer {
	o.Rules = slices.Clone(o.Rules)
	a := &analysis.Analyzer{
		Name: "candorvet",
		Doc:  "report failures that MCP tool handlers hide\n\n" + ruleLines(),
		Run:  func(pass *analysis.Pass) (any, error) { return nil, run(pass, &o) },
	}
	a.Flags.BoolVar(&o.All, "all", o.All, "look for logandcontinue and swallowed in every function, not in handlers only")
	a.Flags.Func("rules", "only these rules, separated by commas", func(list string) error {
		o.Rules = strings.Split(list, ",")
		return o.check()
	})
	return a
}

// wants reports whether a rule is chosen.
func (o *Options) wants(name string) bool { return len(o.Rules) == 0 || slices.Contains(o.Rules, name) }

func (o *Options) check() error {
	for _, name := range o.Rules {
		if _, ok := ruleNamed(name); !ok {
			return fmt.Errorf("unknown rule %q: one of %s", name, strings.Join(RuleNames(), ", "))
		}
	}
	return nil
}

func run(pass *analysis.Pass, o *Options) error {
	if err := o.check(); err != nil {
		return err
	}
	v := &vet{pass: pass, options: o, decls: declsOf(pass), writes: writesOf(pass), origins: map[*ast.FuncDecl]origin{}}
	for _, file := range pass.Files {
		if skipped(pass, file) {
			continue
		}
		v.file = file
		v.allowed = v.readAllowances(file)
		for _, decl := range file.Decls {
			v.walk(decl, scope{})
		}
	}
	return nil
}

// skipped leaves out tests, whose handlers fail on purpose, and generated files.
func skipped(pass *analysis.Pass, file *ast.File) bool {
	return strings.HasSuffix(pass.Fset.Position(file.Package).Filename, "_test.go") || ast.IsGenerated(file)
}
