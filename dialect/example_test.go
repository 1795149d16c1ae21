package dialect_test

import (
	"fmt"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// A client that understands one shape can use servers that write another.
func Example_translate() {
	received := []byte(`{"jsonrpc":"2.0","id":3,"error":{"code":2400,"message":"triple store full",` +
		`"data":{"domain":"kg","symbol":"E_KG_FULL","retryable":true,"retryAfterMs":250}}}`)
	v, err := wire.ParseValue(received, wire.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	from, ok := dialect.Detect(v)
	if !ok {
		fmt.Println("no dialect")
		return
	}
	e, err := from.Read(v)
	if err != nil {
		fmt.Println(err)
		return
	}
	to, err := dialect.Lookup("dual-unified")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(from.Name(), e.Class(), e.Retry())
	fmt.Println(string(to.Encode(nil, e, dialect.Options{})))
	// Output:
	// rpc unavailable retryable_after_ms 250
	// {"ok":false,"error":{"code":"E_KG_FULL","message":"triple store full"}}
}

// Write produces the whole MCP result of a failed tool call.
func ExampleDialect_write() {
	e := candor.NotRetryable(candor.CodeInvalidArguments, "city is missing.", candor.WithRef("r1"), candor.WithTool("weather"))
	v, err := wire.ParseValue(dialect.Must("candor").Write(nil, e, dialect.Options{}), wire.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _ := v.Path("content", 0, "text").Str()
	fmt.Print(text)
	fmt.Println(string(v.Path("isError").Raw()), string(v.Path("_meta", dialect.MetaKey, "code").Raw()))
	// Output:
	// INVALID_ARGUMENTS: city is missing.
	// Retry: only with corrected arguments
	// Ref: r1
	// true "INVALID_ARGUMENTS"
}
