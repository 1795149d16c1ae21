package boundary

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

// gateServer returns a server with one tool that signals begun when it starts and returns when open is signalled.
func gateServer() (server *mcp.Server, begun, open chan struct{}) {
	server = rowServer()
	begun, open = make(chan struct{}, 16), make(chan struct{})
	server.AddTool(&mcp.Tool{Name: "gate", InputSchema: &jsonschema.Schema{Type: "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			begun <- struct{}{}
			<-open
			return text("through"), nil
		})
	return server, begun, open
}

func request7(tool, id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `"$M}}`
}

func cancelOf(id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"enough"}}`
}

// begin opens a session and reads the answers of the preamble.
func begin(t testing.TB, server *mcp.Server, e era, o Options) *session {
	t.Helper()
	s := converse(t, server, o)
	if len(e.preamble) > 0 {
		s.send(e.preamble...)
		s.next()
	}
	return s
}

func TestDuplicateIDIsRefused(t *testing.T) {
	for _, e := range eras {
		server, begun, open := gateServer()
		s := begin(t, server, e, Options{})
		s.send(e.say(request7("gate", `"\u0041"`)))
		<-begun
		s.send(e.say(request7("fine", `"A"`)))
		m := wire.Parse([]byte(s.next()), wire.Limits{})
		if told, number := envelope(t, &m); told.Code() != candor.CodeDuplicateRequestID || number != -32600 || string(m.ID()) != `"A"` {
			t.Errorf("%s: the second was told %s", e.name, m.Bytes())
		}
		close(open)
		if rest := answers(t, s.rest()); len(rest) != 1 || !strings.Contains(string(rest.at(`"\u0041"`).Bytes()), "through") {
			t.Errorf("%s: the first was told %v", e.name, rest)
		}
		if total, _, _ := s.meter.counts(); total != 1 || len(s.ledger.all()) != 1 {
			t.Errorf("%s: counted %d, recorded %d", e.name, total, len(s.ledger.all()))
		}
	}
}

func TestOnlyTheCancelledCallIsNotAnswered(t *testing.T) {
	for _, e := range eras {
		for _, id := range []string{"1.5", "1.0", "7", `"7"`, "9007199254740993", `"\u0041"`} {
			server, begun, open := gateServer()
			s := begin(t, server, e, Options{Ledger: nil})
			s.ledger.told = make(chan struct{}, 4)
			s.send(e.say(request7("gate", "1")), e.say(request7("waits", id)))
			<-begun
			s.send(cancelOf("99"), cancelOf("true"), cancelOf(id), cancelOf(id))
			<-s.ledger.told
			close(open)
			if rest := answers(t, s.rest()); len(rest) != 1 || string(rest.at("1").ID()) != "1" || rest.at("1").Kind() != wire.KindResult {
				t.Errorf("%s: cancelling %s left %v", e.name, id, rest)
			}
			checkSilent(t, s, candor.CodeCancelled)
		}
	}
}

func checkSilent(t *testing.T, s *session, code candor.Code) {
	t.Helper()
	total, suppressed, _ := s.meter.counts()
	if entries := s.ledger.all(); len(entries) != 1 || entries[0].err.Code() != code || total != 1 || suppressed != 1 {
		t.Errorf("recorded %v, counted %d, suppressed %d", entries, total, suppressed)
	}
}

func TestSuccessOfCancelledCallIsNotSent(t *testing.T) {
	server, begun, open := gateServer()
	s := begin(t, server, eras[0], Options{})
	s.send(request("7", "tools/call", `{"name":"gate"}`))
	<-begun
	s.send(cancelOf("7"))
	s.send(`{"jsonrpc":"2.0","id":8,"method":"ping"}`)
	s.next() // the cancellation was read
	close(open)
	if rest := s.rest(); len(rest) != 0 {
		t.Errorf("answered with %q", rest)
	}
	checkSilent(t, s, candor.CodeCancelled)
	if got := s.ledger.all()[0].verdict; got != "lost" {
		t.Errorf("the verdict is %s", got)
	}
}

func TestTheEndOfTheInputWaitsForOpenCalls(t *testing.T) {
	for _, e := range eras {
		server, begun, open := gateServer()
		s := begin(t, server, e, Options{})
		s.send(e.say(request7("gate", "7")))
		<-begun
		shut(t, s.in)
		go close(open)
		if rest := answers(t, s.collect()); rest.at("7").Kind() != wire.KindResult {
			t.Errorf("%s: %v", e.name, rest)
		}
	}
}

func TestRequestToADisconnectedClientFails(t *testing.T) {
	s := begin(t, rowServer(), eras[0], Options{})
	s.send(request7era("asks", "7"))
	if ask := s.next(); !strings.Contains(ask, "roots/list") {
		t.Fatal(ask)
	}
	if got := strings.Join(s.rest(), "\n"); !strings.Contains(got, `"id":7,"result"`) || !strings.Contains(got, `"isError":true`) {
		t.Errorf("%s", got)
	}
}

func request7era(tool, id string) string { return eras[0].say(request7(tool, id)) }

func TestTheClientsAnswersReachTheHandler(t *testing.T) {
	for _, c := range []struct{ answer, want string }{
		{`{"jsonrpc":"2.0","id":1,"result":{"roots":[{"uri":"file:///a"}]}}`, "1 roots"},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no roots here"}}`, `"dev.candor/error"`},
		{`{"jsonrpc":"2.0","id":1,"error":"no"}`, `"isError":true`},
	} {
		s := begin(t, rowServer(), eras[0], Options{})
		s.send(request7era("asks", "7"))
		s.next()
		s.send(`{"jsonrpc":"2.0","id":99,"result":{}}`, `{"jsonrpc":"2.0","error":{"code":1,"message":"a stray one"}}`, c.answer)
		if got := s.next(); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.answer, got)
		}
		s.rest()
	}
}

func TestShutdownAnswersOpenCalls(t *testing.T) {
	for _, e := range eras {
		s := begin(t, rowServer(), e, Options{})
		s.send(e.say(request7("waits", "1.5")))
		s.send(e.say(alive))
		s.next()
		s.stop()
		rest := answers(t, s.collect())
		if told, _ := envelope(t, rest.at("1.5")); told.Code() != candor.CodeCancelled {
			t.Errorf("%s: told %v", e.name, told)
		}
		if total, suppressed, _ := s.meter.counts(); total != 1 || suppressed != 0 {
			t.Errorf("%s: counted %d, suppressed %d", e.name, total, suppressed)
		}
	}
}

func TestDisconnectedClientEndsTheSession(t *testing.T) {
	for name, line := range map[string]string{"an answer": request7era("fine", "7"), "a refusal": "hello world"} {
		fromClient, in := io.Pipe()
		fromServer, out := io.Pipe()
		server := rowServer()
		ended := make(chan error, 1)
		go func() { ended <- Install(server, Options{Logger: quiet}).serve(t.Context(), server, fromClient, out) }()
		shut(t, fromServer)
		go io.WriteString(in, line+"\n") //nolint:errcheck // the other end may be closed already
		if err := <-ended; err != nil {
			t.Errorf("%s: ended with %v", name, err)
		}
	}
}

func TestWritingToAClosedConnectionIsAnError(t *testing.T) {
	r, _ := io.Pipe()
	_, w := io.Pipe()
	conn, err := New(Options{}).Transport(r, w).Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(conn.Close(), conn.Close()); err != nil {
		t.Error(err)
	}
	if err := conn.Write(t.Context(), &jsonrpc.Request{Method: "notifications/x"}); !errors.Is(err, io.EOF) {
		t.Errorf("wrote with %v", err)
	}
	if _, err := conn.Read(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("read with %v", err)
	}
}

func TestASubscriptionIsNamedByTheIDThatTheClientWrote(t *testing.T) {
	for _, id := range []string{"1.5", `"\u0041"`, "4", `"s"`} {
		s := begin(t, rowServer(), eras[1], Options{})
		s.send(eras[1].say(`{"jsonrpc":"2.0","id":` + id + `,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true}$M}}`))
		m := wire.Parse([]byte(s.next()), wire.Limits{})
		if got := wire.ID(m.Params().Path("_meta", mcp.MetaKeySubscriptionID).Raw()); !got.Equal(wire.ID(id)) {
			t.Errorf("%s is called %s", id, m.Bytes())
		}
		rest := answers(t, s.rest())
		if got := wire.ID(rest.at(id).Result().Path("_meta", mcp.MetaKeySubscriptionID).Raw()); !got.Equal(wire.ID(id)) {
			t.Errorf("%s ended with %v", id, rest)
		}
		if total, _, _ := s.meter.counts(); total != 0 {
			t.Errorf("the end of a subscription was counted as a failure")
		}
	}
}

func TestTooManyOpenCallsAreRefused(t *testing.T) {
	table := newInflight()
	for n := range maxInFlight {
		if e := table.open(&openCall{sdk: sdkID(wire.ID(fmt.Sprint(n)))}); e != nil {
			t.Fatal(e)
		}
	}
	if e := table.open(&openCall{sdk: sdkID(wire.ID(`"x"`))}); e.Code() != candor.CodeTooManyCalls {
		t.Errorf("one too many: %v", e)
	}
	if e := table.open(&openCall{sdk: sdkID(wire.ID("5"))}); e.Code() != candor.CodeDuplicateRequestID {
		t.Errorf("a known one: %v", e)
	}
}
