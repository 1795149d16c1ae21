package candor_test

import (
	"fmt"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// The canonical form has a fixed order of members and is written without allocating.
func ExampleError_AppendJSON() {
	err := candor.NotRetryable(kaiza.PathTraversalBlocked, "", candor.WithTool("read_file"), candor.WithRef("r-7"))

	buf := make([]byte, 0, 1024)
	buf = err.AppendJSON(buf, candor.JSONOptions{})

	fmt.Println(string(buf))
	// Output:
	// {"code":"PATH_TRAVERSAL_BLOCKED","class":"bad_request","message":"The path climbs out of its folder with \"..\".","retry":{"kind":"not_retryable"},"suggestion":"Name the path without \"..\" segments.","domain":"kaiza","number":3212,"origin":{"by":"tool","inferred":false},"ref":"r-7","tool":"read_file"}
}
