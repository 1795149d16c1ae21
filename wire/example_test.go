package wire_test

import (
	"fmt"
	"strings"

	"github.com/candor-mcp/candor/wire"
)

func Example() {
	lines := wire.NewLineReader(strings.NewReader(`{"jsonrpc":"2.0","id":9007199254740993,"result":{"n":1.50}}
{"jsonrpc":"2.0","id":"a","result":1,"error":{}}
`), wire.Limits{})
	for {
		line, err := lines.Next()
		if err != nil {
			return
		}
		m := wire.Parse(line.Bytes, wire.Limits{})
		n, _ := m.ResultMember("n")
		fmt.Printf("%v %s %s %v\n", m.Kind(), m.ID(), n.Raw(), m.Err())
	}
	// Output:
	// result 9007199254740993 1.50 <nil>
	// malformed "a"  result_and_error at byte 45: result and error stand together
}

func ExampleSetMember() {
	doc := []byte(`{ "id": 1.0, "result": { "content": [ ] } }`)
	out, err := wire.SetMember(nil, doc, []string{"result", "_meta", "dev.example/seen"}, []byte(`true`))
	fmt.Println(string(out), err)
	// Output:
	// { "id": 1.0, "result": { "content": [ ],"_meta":{"dev.example/seen":true} } } <nil>
}
