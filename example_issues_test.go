package candor_test

import (
	"fmt"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// Bad arguments are listed one by one: the path, the expected and the received type, and a valid example.
func ExampleWithIssues() {
	err := candor.ToolFailure(kaiza.InvalidInputType, "search", "",
		candor.WithIssues(
			candor.Issue{Path: "/limit", Rule: "type", Expected: map[string]any{"type": "integer"}, Got: "string", Example: 10},
			candor.Issue{Path: "/qery", Rule: "additionalProperties", Hint: "query"},
		))

	for _, issue := range err.Details().Issues() {
		fmt.Printf("%s breaks %s\n", issue.Path, issue.Rule)
	}
	fmt.Println(err.Details().Get("issues"))
	// Output:
	// /limit breaks type
	// /qery breaks additionalProperties
	// [{"path":"/limit","rule":"type","expected":{"type":"integer"},"got":"string","example":10},{"path":"/qery","rule":"additionalProperties","hint":"query"}]
}
