// Package vet finds tool handlers that hide failures: an error that is returned without a code, a failure returned as a
// success, an error that is only logged, and one that is dropped.
//
// # How do I run it?
//
// The program vet/cmd/candorvet runs it. [Analyzer] is an analyser for golang.org/x/tools/go/analysis, for use in other drivers; [New] returns one
// with [Options].
//
// # What does it check?
//
// It recognises handlers for tools, prompts and resources of github.com/modelcontextprotocol/go-sdk and of github.com/mark3labs/mcp-go by
// their signatures. Test files and generated files are skipped. It analyses one package at a time and uses only the code of that
// package. docs/vet.md describes the rules.
//
// # How do I allow one line?
//
// A comment suppresses one rule on its own line or the next, and must give a reason:
//
//	n, _ := strconv.Atoi(s) //candor:allow swallowed zero is the default
package vet

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Options configures an analyser. The zero value applies every rule, in handlers only.
type Options struct {
	// All applies the rules that make sense outside of handlers, logandcontinue and swallowed, to every function.
	All bool
	// Rules has the names of the rules to apply; if it is empty, all apply. An unknown name makes the run fail.
	Rules []string
}

// Analyzer applies every rule to the handlers of a package. Its flags -all and -rules set [Options].
var Analyzer = New(Options{})

// New returns a new analyser, so that several with different options can run in one process.
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

// wants reports whether a rule is enabled.
func (o *Options) wants(name string) bool { return len(o.Rules) == 0 || slices.Contains(o.Rules, name) }

func (o *Options) check() error {
	for _, name := range o.Rules {
		if _, ok := ruleNamed(name); !ok {
			return fmt.Errorf("unknown rule %q: one of %s", name, strings.Join(ruleNames(), ", "))
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

// skipped reports whether a file is generated, or is a test, in which handlers fail on purpose.
func skipped(pass *analysis.Pass, file *ast.File) bool {
	return strings.HasSuffix(pass.Fset.Position(file.Package).Filename, "_test.go") || ast.IsGenerated(file)
}
