package learn

import (
	"fmt"
	"testing"

	"github.com/candor-mcp/candor/ledger"
)

// TestRareShapesAreDroppedFirst has more tools with one answer each than shapes are kept, and one tool with many answers.
func TestRareShapesAreDroppedFirst(t *testing.T) {
	t.Parallel()
	g, err := newGrouping(nil)
	if err != nil {
		t.Fatal(err)
	}
	add := func(tool string) {
		g.add(&ledger.Record{
			Tool: tool, Outcome: ledger.OutcomeSuspected,
			Upstream: &ledger.RecordText{Text: `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"success\":false,\"error\":\"x\"}"}]}}`},
		}, &entryData{Server: "shop", Source: "own"})
	}
	const rare, often = maxShapes + 500, 5
	for range often {
		add("often")
	}
	for i := range rare {
		add(fmt.Sprint("tool", i))
		if g.shapes > maxShapes {
			t.Fatalf("%d shapes are kept", g.shapes)
		}
	}
	found := g.findings()
	var counted uint64
	for _, s := range found.Shapes {
		counted += s.Count
	}
	if counted+found.Dropped != rare+often || found.Suspected != rare+often || found.Dropped == 0 {
		t.Errorf("%d answers in shapes, %d dropped, %d suspected", counted, found.Dropped, found.Suspected)
	}
	if first := found.Shapes[0]; first.Tool != "often" || first.Count != often {
		t.Errorf("first %s with %d answers", first.Tool, first.Count)
	}
}
