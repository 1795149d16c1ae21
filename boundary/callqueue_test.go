package boundary

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
)

// TestQueuedCallsAreCancelledAndPingsPass fills a server that runs two calls at once. A call that waits can be cancelled, which is recorded
// and not answered; a ping is answered meanwhile; the others run when there is space.
func TestQueuedCallsAreCancelledAndPingsPass(t *testing.T) {
	var began atomic.Int64
	let := make(chan struct{})
	server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "held", InputSchema: &jsonschema.Schema{Type: "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			began.Add(1)
			<-let
			return text("done"), nil
		})
	s := converse(t, server, Options{Logger: quiet, MaxCalls: 2})
	s.ledger.told = make(chan struct{}, 10)
	s.send(eras[0].preamble...)
	s.next()
	for id := 1; id <= 5; id++ {
		s.send(emitsCall(id, "held"))
	}
	s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`, `{"jsonrpc":"2.0","id":"p","method":"ping"}`)
	if got := answers(t, []string{s.next()}); got.at(`"p"`).Result().Raw() == nil {
		t.Errorf("the ping was answered %v", got)
	}
	<-s.ledger.told
	if n := began.Load(); n > 2 {
		t.Errorf("%d calls run at once", n)
	}
	close(let)
	var lines []string
	for range 4 {
		lines = append(lines, s.next())
	}
	got := answers(t, lines)
	for id := 1; id <= 4; id++ {
		if got.at(fmt.Sprint(id)).Result().Raw() == nil {
			t.Errorf("call %d: %v", id, got)
		}
	}
	s.rest()
	if entries := s.ledger.all(); len(entries) != 1 || entries[0].err.Code() != candor.CodeCancelled || began.Load() != 4 {
		t.Errorf("recorded %+v, %d calls began", entries, began.Load())
	}
}
