package boundary

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
)

// TestQueuedCallsAreCancelledAndPingsPass fills a server that runs two calls at a time. A waiting call can be cancelled, which is
// recorded and not answered. A ping is answered meanwhile. The other calls run when there is space.
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

// TestQueuedCallIsRefusedAfterItsWait fills a server with a call that does not end. A second call waits for streamCallWait and is then
// refused without having run.
func TestQueuedCallIsRefusedAfterItsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, begun, open := gateServer()
		s := begin(t, server, eras[0], Options{Logger: quiet, MaxCalls: 1})
		s.send(request7era("gate", "7"))
		<-begun
		sent := time.Now()
		s.send(request7era("gate", "8"))
		got := answers(t, []string{s.next()})
		told, _ := envelope(t, got.at("8"))
		if told.Code() != candor.CodeTooManyCalls || !told.Retry().Retryable() || told.Details().Get("limit").String() != "1" {
			t.Errorf("told %v, %v, %s", told, told.Retry(), told.Details())
		}
		if waited := time.Since(sent); waited < streamCallWait || waited > streamCallWait+time.Second {
			t.Errorf("refused after %v", waited)
		}
		close(open)
		s.next()
		s.rest()
		if len(begun) != 0 {
			t.Error("the refused call has run")
		}
	})
}
