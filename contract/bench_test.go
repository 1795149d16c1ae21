package contract_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/wire"
)

// cleanResult returns a clean answer of about n bytes: one long text, text in lines, or rows as JSON in a text.
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

// naive decodes every answer, as a simple proxy would.
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

// BenchmarkClassify measures P9: the cost of a clean answer, compared to decoding it into a struct.
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

// BenchmarkRead measures the cost of a failed answer, most of which is reading the peer's text.
func BenchmarkRead(b *testing.B) {
	request := []byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"notes/today.md","limit":10}}}`)
	for _, c := range []struct{ name, text string }{
		{"short", "no such file: notes/today.md"},
		{"field", "Invalid arguments for tool read_file: limit must be a number"},
		{"status", `GitHub API error: 429 Too Many Requests {"message":"API rate limit exceeded","retry_after":7}`},
		{"prose", "I could not read the file because the volume that holds the notes is not mounted on this host. Mount it, or ask somebody who may; the folder itself was there yesterday, and nothing was changed by this call."},
	} {
		b.Run(c.name, func(b *testing.B) {
			quoted, _ := json.Marshal(c.text)
			raw := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":%s}],"isError":true}}`, quoted)
			ask := wire.Parse(request, wire.Limits{})
			b.ReportAllocs()
			for b.Loop() {
				x := contract.Exchange{Request: &ask, Response: wire.Parse(raw, wire.Limits{})}
				if !contract.Read(&x).Verdict.Failure() {
					b.Fatal("not a failure")
				}
			}
		})
	}
}
