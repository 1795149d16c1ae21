package candortest_test

import (
	"context"
	"fmt"

	"github.com/candor-mcp/candor/candortest"
)

// Check runs the kit outside a test and returns the findings.
func ExampleCheck() {
	findings, err := candortest.Check(context.Background(), inProcess(mutants["id-large-integer"]),
		candortest.Options{
			Eras: []string{"2025-11-25"}, Only: []string{"id-echo", "id-large-integer"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range findings {
		if !f.Passed {
			fmt.Println(f.Rule.ID+":", f.Problem)
		}
	}
	// Output:
	// id-large-integer: the answer to the id 9007199254740993 carries the id 9007199254740992
}

// Checks lists every check with its rule and the reason for it.
func ExampleChecks() {
	for _, rule := range candortest.Checks() {
		if rule.ID == "parse-error" {
			fmt.Println(rule.ID, rule.Level)
		}
	}
	// Output:
	// parse-error protocol
}
