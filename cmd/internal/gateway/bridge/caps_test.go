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
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
)

func TestSessionsThatAreDroppedStayCapped(t *testing.T) {
	s := spanned(t, gateway.Options{}, brokenServer(), Options{HTTP: httpgate.Options{Sessions: 5}})
	var begun, refused atomic.Int64
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 25 {
				switch got := s.send(http.MethodPost, gatewaytest.SpanHello); {
				case got.header.Get(httpgate.SessionHeader) != "":
					begun.Add(1)
				case gatewaytest.CodeOf(got.body) == "TOO_MANY_SESSIONS" && strings.Contains(got.body, `"retry"`):
					refused.Add(1)
				default:
					t.Errorf("%+v", got)
				}
			}
		})
	}
	wait.Wait()
	if begun.Load() != 5 || refused.Load() != 195 || len(s.b.hosts) != 5 {
		t.Errorf("%d begun, %d refused, %d servers", begun.Load(), refused.Load(), len(s.b.hosts))
	}
	s.CheckTotals(t, 195)
	s.ahead.Store(31 * 60)
	gatewaytest.Eventually(t, "their places are free", func() bool { s.b.sweep(); s.b.mu.Lock(); defer s.b.mu.Unlock(); return s.b.sessionCount == 0 })
	s.greet()
}

func TestUnusedSessionEndsAfterItsTime(t *testing.T) {
	s := spanned(t, gateway.Options{}, brokenServer(), Options{HTTP: httpgate.Options{SessionIdleTimeout: time.Hour}})
	used, idle, listening := s.greet(), s.greet(), s.greet()
	stream := listening.listen()
	defer stream.close()
	pids := idle.pidOf(1)
	s.ahead.Store(3000)
	used.call(1, "echo", `{}`)
	s.ahead.Store(3601)
	gatewaytest.Eventually(t, "the idle one has ended", func() bool { s.b.sweep(); s.b.mu.Lock(); defer s.b.mu.Unlock(); return s.b.sessionCount == 2 })
	gatewaytest.AllEnd(t, pids)
	if got := idle.call(2, "echo", `{}`); got.status != http.StatusNotFound {
		t.Errorf("%+v", got)
	}
	for _, c := range []*client{used, listening} {
		if got := c.call(2, "echo", `{}`); got.status != http.StatusOK {
			t.Errorf("%+v", got)
		}
	}
	s.CheckTotals(t, 1)
}

func TestOpenCallsOfASessionAreCapped(t *testing.T) {
	s := spanned(t, gateway.Options{Limits: gateway.Limits{Calls: 3}}, brokenServer(), Options{})
	c := s.greet()
	var wait sync.WaitGroup
	for id := range 3 {
		wait.Go(func() { c.call(id, "hang", `{}`) })
	}
	s.begun(3)
	if got := c.call(9, "echo", `{}`); gatewaytest.CodeOf(got.body) != "TOO_MANY_CALLS" {
		t.Errorf("%+v", got)
	}
	c.send(http.MethodDelete, "", httpgate.SessionHeader, c.id)
	wait.Wait()
	s.CheckTotals(t, 1)
}

func TestABridgeThatClosesAnswersWhatIsOpen(t *testing.T) {
	child := brokenServer()
	child.Drain = 20 * time.Second
	s := spanned(t, gateway.Options{}, child, Options{})
	c, other := s.greet(), s.greet()
	pids := other.pidOf(1)
	slow, hangs := make(chan heard, 1), make(chan heard, 1)
	go func() { hangs <- other.call(2, "hang", `{}`) }()
	s.begun(1)
	go func() { slow <- c.call(1, "late", `{"ms":300}`) }()
	s.begun(2)
	ctx, cancel := context.WithCancel(t.Context())
	closed := make(chan error)
	go func() { closed <- s.b.Close(ctx) }()
	gatewaytest.Eventually(t, "the bridge closes", func() bool { s.b.mu.Lock(); defer s.b.mu.Unlock(); return s.b.closing })
	if got := <-slow; !strings.Contains(got.body, "late") {
		t.Errorf("%+v", got)
	}
	if got := s.send(http.MethodPost, gatewaytest.SpanHello); gatewaytest.CodeOf(got.body) != "GATEWAY_DRAINING" {
		t.Errorf("%+v", got)
	}
	cancel()
	if got := <-hangs; gatewaytest.CodeOf(got.body) != "GATEWAY_DRAINING" {
		t.Errorf("%+v", got)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	gatewaytest.AllEnd(t, pids)
	s.CheckTotals(t, 2)
}

func TestANoisyServerCannotFillTheMailOfAClientThatDoesNotListen(t *testing.T) {
	s := spanned(t, gateway.Options{}, brokenServer(), Options{})
	c := s.greet()
	got := s.send(http.MethodPost, gatewaytest.ToolCall(1, "flood", `{"n":50000}`), httpgate.SessionHeader, c.id, "Accept", "application/json")
	if gatewaytest.CodeOf(got.body) != "" || got.status != http.StatusOK {
		t.Errorf("%+v", got)
	}
	box := s.b.session(c.id).queue
	if messages, _ := box.take(); len(messages) != 256 {
		t.Errorf("%d messages wait", len(messages))
	}
	s.CheckTotals(t, 0)
	s.send(http.MethodDelete, "", httpgate.SessionHeader, c.id)
	gatewaytest.Eventually(t, "the log says how many were dropped", func() bool { return strings.Contains(s.log.String(), "messages=49744") })
}

func TestCallGoesOnAfterItsClientHasGone(t *testing.T) {
	s := spanned(t, gateway.Options{}, brokenServer(), Options{})
	c := s.greet()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.do(ctx, http.MethodPost, gatewaytest.ToolCall(1, "hang", `{}`), httpgate.SessionHeader, c.id).Body.Close()
	}()
	s.begun(1)
	cancel()
	<-done
	gatewaytest.Eventually(t, "the bridge knows", func() bool { return s.b.handler.Calls.Load() == 0 })
	if s.b.up.Open() != 1 {
		t.Error("who loses a connection has not called off")
	}
	if got := c.call(2, "exit", `{}`); gatewaytest.CodeOf(got.body) != "UPSTREAM_GONE" {
		t.Errorf("%+v", got)
	}
	gatewaytest.Eventually(t, "the call has ended", func() bool { return s.ByCode()["UPSTREAM_GONE"] == 2 })
	s.CheckTotals(t, 1)
}
