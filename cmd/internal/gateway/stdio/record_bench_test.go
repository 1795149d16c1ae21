package stdio_test

import (
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/testing/load"
	"github.com/candor-mcp/candor/ledger"
)

// BenchmarkP7Record measures the cost of writing every failure to disk before its answer is sent, and checks that successes are
// not affected. The temporary directory must be on a disk for the result to be meaningful.
func BenchmarkP7Record(b *testing.B) {
	const callers = 128
	for _, tool := range []string{load.Fail, load.Echo} {
		b.Run(tool, func(b *testing.B) {
			l, err := ledger.Open(b.TempDir(), ledger.Options{})
			must(b, err)
			b.Cleanup(func() { must(b, l.Close()) })
			plain := gateway.Options{Repeats: gateway.RepeatPolicy{Off: true}} // otherwise most failures would never reach the server
			recorded := plain
			recorded.Ledger = l
			race(b, load.Rate(callers, tool, window),
				&load.Contestant{Name: "plain", Callers: wrapped(b, load.Plain, callers, plain)},
				&load.Contestant{Name: "recorded", Callers: wrapped(b, load.Plain, callers, recorded)})
		})
	}
}
