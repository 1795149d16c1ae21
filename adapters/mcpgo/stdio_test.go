package mcpgo_test

import (
	"context"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/candor-mcp/candor/adapters/mcpgo"
	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/wire"
)

func TestManyCallsAtOnceAreCountedOnceEach(t *testing.T) {
	s, b := open(t, boundary.Options{})
	send, receive := stdio(t, s)
	send(hello)
	receive()
	const calls = 400
	go func() {
		for i := range calls {
			send(call(i, []string{"plain", "fine", "panics", "nope"}[i%4], `{}`))
		}
	}()
	seen, failed := map[string]bool{}, 0
	for range calls {
		answer := receive()
		m := wire.Parse([]byte(answer), wire.Limits{})
		seen[string(m.ID())] = true
		if envelope(t, answer).Present() {
			failed++
		}
	}
	entries, counts, suppressed := b.totals()
	if len(seen) != calls || failed != calls*3/4 || entries != failed || counts != failed || suppressed != 0 {
		t.Errorf("%d answered, %d failed, %d entries, %d counts, %d suppressed", len(seen), failed, entries, counts, suppressed)
	}
}

func TestTheServerCanStillAskTheClient(t *testing.T) {
	inner := server.NewMCPServer("test", "1")
	inner.EnableSampling()
	inner.AddTool(mcp.NewTool("asks"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		got, err := inner.RequestSampling(ctx, mcp.CreateMessageRequest{CreateMessageParams: mcp.CreateMessageParams{MaxTokens: 5}})
		if err != nil {
			return nil, err
		}
		return mcp.NewToolResultText("the model " + got.Model), nil
	})
	send, receive := stdio(t, mcpgo.Wrap(inner, boundary.Options{}))
	send(strings.Replace(hello, `"capabilities":{}`, `"capabilities":{"sampling":{}}`, 1))
	receive()
	send(call(1, "asks", `{}`))
	asked := receive()
	question := wire.Parse([]byte(asked), wire.Limits{})
	if !question.MethodIs("sampling/createMessage") {
		t.Fatalf("%s", asked)
	}
	send(`{"jsonrpc":"2.0","id":` + string(question.ID()) + `,"result":{"role":"assistant","model":"m1","content":{"type":"text","text":"x"}}}`)
	if answer := receive(); !strings.Contains(answer, "the model m1") {
		t.Errorf("%s", answer)
	}
}

func TestUnknownToolGetsSimilarNames(t *testing.T) {
	s, b := open(t, boundary.Options{})
	answer := paths()["stdio"](t, s)(call(1, "stritc", `{}`))
	if meant, _ := envelope(t, answer).Path("details", "didYouMean", 0).Str(); meant != "strict" {
		t.Errorf("%s", answer)
	}
	if entries, counts, _ := b.totals(); entries != 1 || counts != 1 {
		t.Errorf("%d entries, %d counts", entries, counts)
	}
}
