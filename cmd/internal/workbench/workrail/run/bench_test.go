package run_test

import (
	"fmt"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/run"
)

// BenchmarkAdvance advances in the first and in the last iteration of a long loop, which should cost the same.
func BenchmarkAdvance(b *testing.B) {
	w := flow(b, "[{id: l, loop: {times: 1000, index: i, maxIterations: 1000, steps: [{id: a, prompt: p}, {id: b, prompt: p, when: {key: i, atLeast: 1}}]}}]")
	for _, iteration := range []int{1, 999} {
		b.Run(fmt.Sprint(iteration), func(b *testing.B) {
			p := run.Position{Version: run.PositionVersion, Loops: []run.Loop{{Step: "l", Iteration: iteration, Total: 1000}}, Step: "b"}
			for b.Loop() {
				if _, err := run.Advance(w, p, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
