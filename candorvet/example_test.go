package candorvet_test

import (
	"fmt"
	"strings"

	"github.com/candor-mcp/candor/candorvet"
)

// New returns an analyser that applies a choice of rules; drivers such as multichecker and unitchecker run it beside others.
func ExampleNew() {
	analyzer := candorvet.New(candorvet.Options{Rules: []string{candorvet.RawError}})
	fmt.Println(analyzer.Name)
	fmt.Println(analyzer.Flags.Set("rules", "rawerror,nosuchrule") != nil)
	// Output:
	// candorvet
	// true
}

func ExampleAnalyzer() {
	title, rules, _ := strings.Cut(candorvet.Analyzer.Doc, "\n\n")
	fmt.Println(title)
	fmt.Println(strings.Contains(rules, candorvet.RawError))
	// Output:
	// report failures that MCP tool handlers hide
	// true
}
