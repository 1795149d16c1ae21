package framing_test

import (
	"bytes"
	"testing"

	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/wire"
)

func BenchmarkLineReader(b *testing.B) {
	stream := bytes.Repeat(framing.AppendLine(nil, bytes.Repeat([]byte("x"), 1<<10)), 1000)
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		r := framing.NewLineReader(bytes.NewReader(stream), wire.Limits{})
		for n := 0; ; n++ {
			if _, err := r.Next(); err != nil {
				if n != 1000 {
					b.Fatal(n, err)
				}
				break
			}
		}
	}
}
