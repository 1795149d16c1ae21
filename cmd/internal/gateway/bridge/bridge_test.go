package bridge

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/gateway/stdio"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/wire"
)

func TestAServerOnStdioIsCalledOverHTTP(t *testing.T) {
	s := spanned(t, gateway.Options{}, brokenServer(), Options{})
	c := s.greet()
	const want = `{"jsonrpc":"2.0","id":9007199254740993,"result":{"content":[{"type":"text","text":"as it is"}]}}`
	got := c.post(`{"jsonrpc":"2.0","id":9007199254740993,
		"method":"tools/call","params":{"name":"echo","arguments":{"text":"as it is"}}}`)
	if got.body != want || got.header.Get("Content-Type") != "application/json" || got.status != http.StatusOK {
		t.Errorf("%+v", got)
	}
	fail := c.call(1, "fail", `{}`)
	if gatewaytest.CodeOf(fail.body) != "NOT_FOUND" {
		t.Error(fail.body)
	}
	unfit := c.call(2, "echo", `{"txt":1}`)
	if gatewaytest.CodeOf(unfit.body) != "INVALID_ARGUMENTS" || !strings.Contains(unfit.body, "text") {
		t.Error(unfit.body)
	}
	s.CheckTotals(t, gatewaytest.CountFailed(fail.body, unfit.body))
}

func TestServerMessagesDuringACallGoToItsStream(t *testing.T) {
	s := spanned(t, gateway.Options{}, brokenServer(), Options{})
	c := s.greet()
	got := c.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"progress","arguments":{"n":3},"_meta":{"progressToken":"p"}}}`)
	if m := got.messages(); len(m) != 4 || !strings.Contains(m[2], `"progressToken":"p","progress":2`) || !strings.Contains(m[3], "done") {
		t.Errorf("%+v", got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), gatewaytest.TooLong)
	defer cancel()
	res := s.do(ctx, http.MethodPost, gatewaytest.ToolCall(2, "ask", `{}`), httpgate.SessionHeader, c.id)
	defer func() { _ = res.Body.Close() }()
	events := &stream{t: t, events: framing.NewEventReader(res.Body, wire.Limits{})}
	if q := events.next(); q != `{"jsonrpc":"2.0","id":1,"method":"roots/list"}` {
		t.Fatal(q)
	}
	const answer = `{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`
	if got := c.post(answer); got.status != http.StatusAccepted || got.body != "" {
		t.Errorf("%+v", got)
	}
	if a := events.next(); !strings.Contains(a, `roots\":[]`) {
		t.Error(a)
	}
	s.CheckTotals(t, 0)
}

func TestOtherServerMessagesGoToTheStreamOfTheSession(t *testing.T) {
	s := spanned(t, gateway.Options{}, brokenServer(), Options{MaxQueued: 4})
	c := s.greet()
	const changed = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	for i := range 10 { // a client without a stream that accepts no events
		got := s.send(http.MethodPost, gatewaytest.ToolCall(i, "changed", `{}`), httpgate.SessionHeader, c.id, "Accept", "application/json")
		if m := got.messages(); len(m) != 1 || !strings.Contains(m[0], "changed") {
			t.Errorf("%+v", got)
		}
	}
	first := c.listen()
	for range 4 { // the last ones, which were kept
		if got := first.next(); got != changed {
			t.Error(got)
		}
	}
	second := c.listen()
	defer second.close()
	if _, err := first.events.Next(); err == nil {
		t.Error("two streams of one session")
	}
	first.close()
	gatewaytest.Eventually(t, "the second listens alone", func() bool { s.b.mu.Lock(); defer s.b.mu.Unlock(); return s.b.handler.Streams.Load() == 1 })
	s.send(http.MethodPost, gatewaytest.ToolCall(11, "changed", `{}`), httpgate.SessionHeader, c.id, "Accept", "application/json")
	if got := second.next(); got != changed {
		t.Error(got)
	}
	s.CheckTotals(t, 0)
}

func TestUnreadRequestOfTheServerIsRefused(t *testing.T) {
	s := spanned(t, gateway.Options{}, brokenServer(), Options{ServerRequestTimeout: 50 * time.Millisecond})
	c := s.greet()
	got := s.send(http.MethodPost, gatewaytest.ToolCall(1, "ask", `{}`), httpgate.SessionHeader, c.id, "Accept", "application/json")
	if !strings.Contains(got.body, `\"code\":\"TIMEOUT\"`) {
		t.Errorf("%+v", got)
	}
	if s.ByCode()["TIMEOUT"] != 2 { // the refusal, and an answer that quotes it and so looks like a failure
		t.Error(s.ByCode())
	}
	s.CheckTotals(t, 0)
}

func TestAnIdThatIsOpenIsRefusedAndOthersOfItsKindAreNot(t *testing.T) {
	s := spanned(t, gateway.Options{}, brokenServer(), Options{})
	c := s.greet()
	var wait sync.WaitGroup
	wait.Go(func() { c.call(1, "hang", `{}`) })
	s.begun(1)
	if got := c.call(1, "echo", `{}`); gatewaytest.CodeOf(got.body) != "DUPLICATE_REQUEST_ID" {
		t.Errorf("%+v", got)
	}
	if got := c.post(strings.Replace(gatewaytest.ToolCall(1, "echo", `{}`), `"id":1`, `"id":"1"`, 1)); gatewaytest.CodeOf(got.body) != "" {
		t.Errorf("%+v", got)
	}
	c.send(http.MethodDelete, "", httpgate.SessionHeader, c.id)
	wait.Wait()
	s.CheckTotals(t, 1)
}

func TestSessionEndsWithItsServer(t *testing.T) {
	s := spanned(t, gateway.Options{}, brokenServer(), Options{})
	c := s.greet()
	answers := make(chan string, 20)
	var wait sync.WaitGroup
	for id := range 20 {
		wait.Go(func() { answers <- c.call(id, "hang", `{}`).body })
	}
	s.begun(20)
	listening := c.listen()
	defer listening.close()
	answers <- "" // so that the channel is never full
	<-answers
	wait.Go(func() { answers <- c.call(99, "crash", `{}`).body })
	n := 0
	for range 21 {
		got := <-answers
		if gatewaytest.CodeOf(got) != "UPSTREAM_GONE" || strings.Contains(got, "hunter2secret") {
			t.Error(got)
		}
		n++
	}
	wait.Wait()
	if _, err := listening.events.Next(); err == nil {
		t.Error("the stream goes on")
	}
	gatewaytest.Eventually(t, "the session is gone", func() bool { return s.b.session(c.id) == nil })
	got := c.call(1, "echo", `{}`)
	if got.status != http.StatusNotFound || gatewaytest.CodeOf(got.body) != "E_SESSION_NOT_FOUND" || !strings.Contains(got.body, `"id":1`) {
		t.Errorf("%+v", got)
	}
	s.CheckTotals(t, n+1)
	s.greet()
}

func TestFailedStartIsReported(t *testing.T) {
	for _, shared := range []bool{false, true} {
		for code, child := range map[string]stdio.Child{"UPSTREAM_UNREACHABLE": missing("no-such-server"), "UPSTREAM_GONE": {Command: "false"}} {
			s := spanned(t, gateway.Options{}, child, Options{Shared: shared})
			got := s.send(http.MethodPost, gatewaytest.SpanHello)
			if gatewaytest.CodeOf(got.body) != code || got.header.Get(httpgate.SessionHeader) != "" || strings.Contains(got.body, "no-such-server") {
				t.Errorf("%+v", got)
			}
			s.CheckTotals(t, 1)
		}
	}
}

func TestDeleteEndsASessionWithAllThatItStarted(t *testing.T) {
	s := spanned(t, gateway.Options{}, brokenServer(), Options{})
	c := s.greet()
	pids := c.pidOf(1)
	done := make(chan heard)
	go func() { done <- c.call(2, "hang", `{}`) }()
	s.begun(1)
	if got := c.send(http.MethodDelete, "", httpgate.SessionHeader, c.id); got.status != http.StatusOK {
		t.Errorf("%+v", got)
	}
	gatewaytest.AllEnd(t, pids)
	if got := <-done; len(got.messages()) != 0 {
		t.Errorf("%+v", got)
	}
	for _, method := range []string{http.MethodDelete, http.MethodGet, http.MethodPost} {
		body := ""
		if method == http.MethodPost {
			body = gatewaytest.ToolCall(1, "echo", `{}`)
		}
		if got := c.send(method, body, httpgate.SessionHeader, c.id); got.status != http.StatusNotFound || gatewaytest.CodeOf(got.body) != "E_SESSION_NOT_FOUND" {
			t.Errorf("%s: %+v", method, got)
		}
	}
	if s.ByCode()["CANCELLED"] != 1 {
		t.Error(s.ByCode())
	}
	s.CheckTotals(t, 3)
}

func TestEveryFaultOfABridgedServerGivesOneAnswerAndOneEntry(t *testing.T) {
	short := map[string]time.Duration{}
	for fault, code := range gatewaytest.FaultCodes {
		if code == "CALL_TIMEOUT" {
			short[fault] = 300 * time.Millisecond
		}
	}
	s := spanned(t, gateway.Options{Timeouts: short}, brokenServer(), Options{HTTP: httpgate.Options{Sessions: 64}})
	var failures atomic.Int64
	var wait sync.WaitGroup
	places := make(chan struct{}, 8) // each session starts a process, and thirty at once overload a busy machine
	for fault, code := range gatewaytest.FaultCodes {
		if fault == "halfline" { // only the next answer shows it
			continue
		}
		wait.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			c := s.greet()
			pause := `{"ms":5}`
			if fault == "late" {
				pause = `{}` // it answers as soon as its call has been cancelled
			}
			m := c.call(1, fault, pause).messages()
			if len(m) == 0 {
				t.Errorf("%s is not answered", fault)
				return
			}
			answer := m[len(m)-1]
			if got := gatewaytest.CodeOf(answer); got != code || !strings.Contains(answer, `"id":1`) {
				t.Errorf("%s: %s, want %s: %.300s", fault, got, code, answer)
			}
			failures.Add(int64(gatewaytest.CountFailed(m...)))
			c.send(http.MethodDelete, "", httpgate.SessionHeader, c.id)
		})
	}
	wait.Wait()
	if err := s.b.Close(t.Context()); err != nil {
		t.Error(err)
	}
	gone := s.ByCode()["E_SESSION_NOT_FOUND"] // sessions that their client deleted after the server had ended
	s.CheckTotals(t, int(failures.Load())+gone)
}
