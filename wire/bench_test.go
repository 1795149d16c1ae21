package wire_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/wire"
)

// reply is what a careful program would decode a response into.
type reply struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Error   *struct {
		Code    int64           `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
	Result *struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
	} `json:"result"`
}

// prose is text as programs print it: lines, quotes, a little beyond ASCII.
func prose(n int) string {
	line := "2026-03-04 12:00:01 the quick brown fox jumps over the \"lazy\" dog and runs on\n"
	return strings.Repeat(line, n/len(line)+1)[:n]
}

func textReply(n int) []byte {
	var b []byte
	b = append(b, `{"jsonrpc":"2.0","id":9007199254740993,"result":{"content":[{"type":"text","text":`...)
	b = jsontext.AppendString(b, prose(n))
	return append(b, `}],"isError":false}}`...)
}

func plainReply(n int) []byte {
	text := strings.Repeat("the quick brown fox jumps over the lazy dog and runs on, ", n/57+1)[:n]
	return append(append([]byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"`), text...), `"}],"isError":false}}`...)
}

func denseReply(n int) []byte {
	var sb strings.Builder
	sb.WriteString(`{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"rows":[`)
	for i := 0; sb.Len() < n; i++ {
		if i > 0 {
			sb.WriteByte(',')
		}
		fmt.Fprintf(&sb, `{"id":%d,"name":"row %d","size":%d.5,"open":true,"tags":["a","b"]}`, i, i, i*7)
	}
	sb.WriteString(`]},"isError":false}}`)
	return []byte(sb.String())
}

func BenchmarkParse(b *testing.B) {
	samples := []struct {
		name string
		make func(int) []byte
	}{{"log", textReply}, {"plain", plainReply}, {"dense", denseReply}}
	for _, sample := range samples {
		for _, size := range []int{0, 1 << 10, 64 << 10, 1 << 20} {
			data := sample.make(size)
			b.Run(fmt.Sprintf("%s/%dKB/wire", sample.name, size>>10), func(b *testing.B) { benchWire(b, data) })
			b.Run(fmt.Sprintf("%s/%dKB/json", sample.name, size>>10), func(b *testing.B) { benchJSON(b, data) })
		}
	}
}

func benchWire(b *testing.B, data []byte) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		m := wire.Parse(data, wire.Limits{})
		if m.Kind() != wire.KindResult {
			b.Fatal(m.Err())
		}
		if v, _ := m.ResultMember("isError"); !v.Present() {
			b.Fatal("a member is missing")
		}
	}
}

func benchJSON(b *testing.B, data []byte) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		var r reply
		if err := json.Unmarshal(data, &r); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHostileObject is one object of many names: it must cost a small multiple of an
// honest message of its size, not the square of the names.
func BenchmarkHostileObject(b *testing.B) {
	for _, names := range []int{1_000, 100_000, 1_000_000} {
		b.Run(strconv.Itoa(names), func(b *testing.B) {
			var sb strings.Builder
			for i := range names {
				fmt.Fprintf(&sb, `,"%d":1`, i)
			}
			data := []byte(`{"a":1` + sb.String() + `}`)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if !wire.Valid(data, wire.Limits{}) {
					b.Fatal("refused")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(names), "ns/name")
		})
	}
}

func BenchmarkAppendString(b *testing.B) {
	text := prose(4 << 10)
	b.Run("wire", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		dst := make([]byte, 0, 8<<10)
		for b.Loop() {
			dst = jsontext.AppendString(dst[:0], text)
		}
	})
	b.Run("json", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}
