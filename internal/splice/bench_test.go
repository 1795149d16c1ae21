package splice_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/wire"
)

var reply = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + strings.Repeat("the quick brown fox ", 50) + `"}],"isError":false}}`

func BenchmarkSetMember(b *testing.B) {
	data := []byte(reply)
	m := wire.Parse(data, wire.Limits{})
	value, err := wire.ParseValue([]byte(`{"code":"X"}`), wire.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	path := []string{"result", "_meta", "dev.example/error"}
	dst := make([]byte, 0, 4<<10)
	b.ReportAllocs()
	for b.Loop() {
		if dst, err = splice.Set(dst[:0], m.Value(), path, value); err != nil {
			b.Fatal(err)
		}
	}
}
