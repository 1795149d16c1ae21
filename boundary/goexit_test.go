package boundary

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
)

// TestHandlerThatEndsItsGoroutineIsAnswered calls a tool that calls runtime.Goexit on a server without a Timeout. The call is
// answered, it no longer counts for MaxCalls, and the session ends cleanly.
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
			if told.Code() != candor.CodeInternalError || told.CallInfo().Tool != "leaves" || told.Retry().Retryable() {
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

// TestHandlerThatEndsItsGoroutineIsAnsweredOverHTTP is the same over HTTP, in both eras.
func TestHandlerThatEndsItsGoroutineIsAnsweredOverHTTP(t *testing.T) {
	t.Parallel()
	for _, newEra := range []bool{false, true} {
		r := &rig{tally: new(tally)}
		server := rowServer()
		server.AddTool(&mcp.Tool{Name: "leaves", InputSchema: &jsonschema.Schema{Type: "object"}},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				runtime.Goexit()
				return nil, nil
			})
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		// Do not use an httptest.Server: its Close waits for the SDK, which waits for the handler that has ended.
		srv := &http.Server{Handler: Handler(server, Options{Ledger: r.tally, Meter: r.tally, Logger: quiet, MaxCalls: 1}), ReadHeaderTimeout: time.Minute}
		go func() { _ = srv.Serve(listener) }()
		t.Cleanup(func() { _ = srv.Close() })
		r.Server = &httptest.Server{URL: "http://" + listener.Addr().String()}
		if r.newEra = newEra; !newEra {
			r.initialize(t)
		}
		for _, id := range []string{"7", "8"} {
			res := r.call(t, id, "tools/call", `{"name":"leaves","arguments":{}}`)
			if told := res.failure(t); told == nil || told.Code() != candor.CodeInternalError || res.id() != id || res.status != http.StatusOK {
				t.Errorf("new era %v: status %d, %s", newEra, res.status, res.body)
			}
		}
		if res := r.call(t, "9", "tools/call", `{"name":"fine","arguments":{}}`); res.status != http.StatusOK || res.failure(t) != nil {
			t.Errorf("new era %v: status %d, %s", newEra, res.status, res.body)
		}
		if entries, counts, suppressed := r.totals(); entries != 2 || counts != 2 || suppressed != 0 {
			t.Errorf("new era %v: %d entries, counted %d, suppressed %d", newEra, entries, counts, suppressed)
		}
	}
}
