//go:build unix

package pgstore_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/storetest"
)

// BenchmarkAppend compares the store with plain INSERT statements into a table of the same form, on one connection each, turn by turn, so that
// both see the same state of the machine. The server syncs.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{1, 256} {
		b.Run(fmt.Sprintf("lines=%d", size), func(b *testing.B) { benchmarkAppend(b, size) })
	}
}

func benchmarkAppend(b *testing.B, size int) {
	server := startServer(b, "fsync=on")
	admin := setUp(b, server)
	node := addNode(b, server, admin, "bench")
	server.SQL(b, "candor", `CREATE TABLE bare (chain bigint, position bigint, line bytea, PRIMARY KEY (chain, position)); GRANT INSERT ON bare TO "candor_node_bench"`)
	bare := connect(b, server, "candor_node_bench")
	chain, head, position := fleet.Chain{Node: "bench", Name: "c"}, fleet.Head{}, 0
	var ofStore, ofBare []time.Duration
	for b.Loop() {
		lines := storetest.MakeLines(chain, head, size, 600)
		positions := make([]int64, size)
		for i := range positions {
			position++
			positions[i] = int64(position)
		}
		start := time.Now()
		if err := node.Append(b.Context(), chain, head, lines); err != nil {
			b.Fatal(err)
		}
		ofStore = append(ofStore, time.Since(start))
		start = time.Now()
		if _, err := bare.Exec(b.Context(), "INSERT INTO bare SELECT 1, p, l FROM unnest($1::bigint[], $2::bytea[]) AS u (p, l)", positions, lines); err != nil {
			b.Fatal(err)
		}
		ofBare = append(ofBare, time.Since(start))
		head = storetest.HeadOf(b, lines[size-1])
	}
	report := func(name string, times []time.Duration) {
		slices.Sort(times)
		median := times[len(times)/2]
		b.ReportMetric(float64(median.Microseconds()), name+"-µs/append")
		b.ReportMetric(float64(size)/median.Seconds(), name+"-lines/s")
	}
	report("store", ofStore)
	report("insert", ofBare)
}
