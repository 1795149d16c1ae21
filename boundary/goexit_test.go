package boundary

import (
	"context"
	"runtime"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
)

// TestHandlerThatEndsItsGoroutineIsAnswered calls a tool that calls runtime.Goexit on a server without a Timeout. The call is answered, its
// place is free for the next call, and the session ends cleanly.
func TestHandlerThatEndsItsGoroutineIsAnswered(t *testing.T) {
	t.Parallel()
	for _, e := range eras {
		server := rowServer()
		server.AddTool(&mcp.Tool{Name: "leaves", InputSchema: &jsonschema.Schema{Type: "object"}},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				runtime.Goexit()
				return nil, nil
			})
		s := begin(t, server, e, Options{Logger: quiet, MaxCalls: 1})
		for _, id := range []string{"7", "8"} {
			s.send(e.say(request7("leaves", id)))
			got := answers(t, []string{s.next()})
			told, _ := envelope(t, got.at(id))
			if told.Code() != candor.CodeInternalError || told.Context().Tool != "leaves" || told.Retry().Retryable() {
				t.Errorf("%s: told %v", e.name, told)
			}
		}
		s.send(e.say(request7("fine", "9")))
		if got := answers(t, []string{s.next()}); got.at("9").Result().Raw() == nil {
			t.Errorf("%s: %v", e.name, got)
		}
		if total, suppressed, _ := s.meter.counts(); total != 2 || suppressed != 0 || len(s.ledger.all()) != 2 {
			t.Errorf("%s: counted %d, suppressed %d, recorded %d", e.name, total, suppressed, len(s.ledger.all()))
		}
		shut(t, s.in)
		<-s.ended
	}
}
