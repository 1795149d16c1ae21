package candortest_test

import (
	"fmt"

	"github.com/candor-mcp/candor/candortest"
)

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
