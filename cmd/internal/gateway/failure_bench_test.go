package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/wire"
)

// BenchmarkFailure measures the path of a failing answer from its bytes to the ledger's entry, on a disk that TMPDIR names.
func BenchmarkFailure(b *testing.B) {
	for name, text := range map[string]string{
		"short":  "Error reading notes/today.md: connection refused by the search service",
		"4KiB":   "Error reading notes/today.md: " + strings.Repeat("connection refused, attempt 3 of 7; ", 4096/36),
		"64KiB":  "Error reading notes/today.md: " + strings.Repeat("connection refused, attempt 3 of 7; ", 65536/36),
		"secret": "Error reading notes/today.md: the token ghp_" + strings.Repeat("a1B2", 9) + " was refused",
	} {
		b.Run(name, func(b *testing.B) {
			l, err := ledger.Open(b.TempDir(), ledger.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close() //nolint:errcheck // the entries are not read
			u := gateway.New(gateway.Options{Ledger: l, Repeats: gateway.RepeatPolicy{Off: true}})
			m := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{}}}`), wire.Limits{})
			answer := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":%q}],"isError":true}}`, text)
			b.ReportAllocs()
			for b.Loop() {
				call, _ := u.Admit(b.Context(), &m, "s")
				if len(call.Close(b.Context(), answer).Bytes) == 0 {
					b.Fatal("not answered")
				}
			}
		})
	}
}
