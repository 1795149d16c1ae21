package candortest_test

import (
	"context"
	"fmt"

	"github.com/candor-mcp/candor/candortest"
)

// Check runs the kit outside a test and returns the findings.
func ExampleCheck() {
	findings, err := candortest.Check(context.Background(), inProcess{mutants["id-large-integer"]},
		candortest.Options{
			Eras: []candortest.Era{candortest.Era2025}, Only: []string{"id-echo", "id-large-integer"}})
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
