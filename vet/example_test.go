package vet_test

import (
	"fmt"
	"strings"

	"github.com/candor-mcp/candor/vet"
)

// New returns an analyser that applies a choice of rules; drivers such as multichecker and unitchecker run it beside others.
func ExampleNew() {
	analyzer := vet.New(vet.Options{Rules: []string{"rawerror"}})
	fmt.Println(analyzer.Name)
	fmt.Println(analyzer.Flags.Set("rules", "rawerror,nosuchrule") != nil)
	// Output:
	// candorvet
	// true
}

func ExampleAnalyzer() {
	title, rules, _ := strings.Cut(vet.Analyzer.Doc, "\n\n")
	fmt.Println(title)
	fmt.Println(strings.Contains(rules, "rawerror"))
	// Output:
	// report failures that MCP tool handlers hide
	// true
}
