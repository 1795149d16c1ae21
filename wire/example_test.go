package wire_test

import (
	"fmt"

	"github.com/candor-mcp/candor/wire"
)

func ExampleParse() {
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":9007199254740993,"result":{"n":1.50}}`,
		`{"jsonrpc":"2.0","id":"a","result":1,"error":{}}`,
	} {
		m := wire.Parse([]byte(line), wire.Limits{})
		n, _ := m.ResultMember("n")
		fmt.Printf("%v %s %s %v\n", m.Kind(), m.ID(), n.Raw(), m.Err())
	}
	// Output:
	// result 9007199254740993 1.50 <nil>
	// malformed "a"  result_and_error at byte 45: the message has a result and an error
}

func ExampleParseValue() {
	v, err := wire.ParseValue([]byte(`{"content": [{"type": "text", "text": "caf\u00e9"}]}`), wire.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	text, ok := v.Path("content", 0, "text").Str()
	fmt.Println(text, ok)
	fmt.Println(v.Path("content", 1).Present())
	// Output:
	// café true
	// false
}

func ExampleMalformation() {
	_, err := wire.ParseValue([]byte(`{"a": 1, "a": 2}`), wire.Limits{})
	fmt.Println(err)
	// Output: duplicate_key at byte 9: an object names a member twice
}
