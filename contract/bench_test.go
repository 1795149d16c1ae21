package contract_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/wire"
)

// cleanResult is an ordinary answer of about n bytes: one long text, text in lines, or rows as JSON in a text.
func cleanResult(n int, kind string) []byte {
	var text strings.Builder
	for i := 0; text.Len() < n; i++ {
		switch kind {
		case "rows":
			fmt.Fprintf(&text, `{"id":%d,"name":"plant %d","height":%d.5,"tags":["green","tall"]},`, i, i, i%90)
		case "lines":
			fmt.Fprintf(&text, "Row %d of the sowing calendar: peas from March, beans from the middle of May.\n", i)
		default:
			fmt.Fprintf(&text, "Bed %d holds peas from March and beans from the middle of May. ", i)
		}
	}
	body := text.String()
	if kind == "rows" {
		body = `{"rows":[` + strings.TrimSuffix(body, ",") + `]}`
	}
	quoted, _ := json.Marshal(body)
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":%s}]}}`, quoted)
}

// naive is what a proxy does that decodes every answer to look at it.
type naive struct {
	ID     json.RawMessage `json:"id"`
	Result struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		IsError bool `json:"isError"`
	} `json:"result"`
	Error *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
}

// BenchmarkClassify is P9: the cost of a clean answer, beside decoding it into a struct.
func BenchmarkClassify(b *testing.B) {
	for _, size := range []struct {
		name string
		n    int
	}{{"1KB", 1 << 10}, {"64KB", 64 << 10}, {"1MB", 1 << 20}} {
		for _, kind := range []string{"text", "lines", "rows"} {
			raw := cleanResult(size.n, kind)
			b.Run(size.name+"/"+kind+"/candor", func(b *testing.B) {
				b.SetBytes(int64(len(raw)))
				b.ReportAllocs()
				for b.Loop() {
					x := contract.Exchange{Response: wire.Parse(raw, wire.Limits{})}
					if contract.Classify(&x).Verdict != contract.VerdictClean {
						b.Fatal("not clean")
					}
				}
			})
			b.Run(size.name+"/"+kind+"/naive", func(b *testing.B) {
				b.SetBytes(int64(len(raw)))
				b.ReportAllocs()
				for b.Loop() {
					var v naive
					if json.Unmarshal(raw, &v) != nil || v.Result.IsError || v.Error != nil {
						b.Fatal("not clean")
					}
				}
			})
		}
	}
}
