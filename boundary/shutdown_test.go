package boundary

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/wire"
)

// TestShutdownAnswersStuckCall stops a server on a stream while a handler ignores its context. The call is answered before the session ends.
func TestShutdownAnswersStuckCall(t *testing.T) {
	for _, e := range eras {
		synctest.Test(t, func(t *testing.T) {
			server, begun, open := gateServer()
			s := begin(t, server, e, Options{})
			s.send(e.say(request7("gate", "7")))
			<-begun
			s.stop()
			got := s.next()
			m := wire.Parse([]byte(got), wire.Limits{})
			failure, _ := envelope(t, &m)
			checkStuck(t, e.name, failure)
			if !strings.Contains(got, `"isError":true`) || string(m.ID()) != "7" {
				t.Errorf("%s: %s", e.name, got)
			}
			if err := <-s.ended; !errors.Is(err, errHandlerRunning) {
				t.Errorf("%s: ended with %v", e.name, err)
			}
			if total, suppressed, _ := s.meter.counts(); total != 1 || suppressed != 0 {
				t.Errorf("%s: counted %d, suppressed %d", e.name, total, suppressed)
			}
			close(open)
			shut(t, s.in)
		})
	}
}

func checkStuck(t *testing.T, where string, e *candor.Error) {
	t.Helper()
	if e == nil || e.Code() != candor.CodeUnavailable || e.Retry().Retryable() || !strings.HasPrefix(e.Suggestion(), contract.CheckEffect) ||
		e.Origin().By != candor.PartyServer || e.CallInfo().Tool != "gate" {
		t.Errorf("%s: %v, %v, %q, %+v", where, e, e.Retry(), e.Suggestion(), e.CallInfo())
	}
}

// TestShutdownAnswersStuckCallOverHTTP is the same over HTTP.
func TestShutdownAnswersStuckCallOverHTTP(t *testing.T) {
	t.Parallel() // it mostly waits
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, begun, open := gateServer()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r := &rig{tally: new(tally), newEra: true}
	r.Server = &httptest.Server{URL: "http://" + listener.Addr().String()}
	ended := make(chan error, 1)
	go func() {
		ended <- serveOn(ctx, listener, server, Options{Ledger: r.tally, Meter: r.tally, Logger: quiet})
	}()
	go func() {
		<-begun
		stop()
	}()
	res := r.call(t, "7", "tools/call", `{"name":"gate","arguments":{}}`)
	if res.status != http.StatusOK || res.id() != "7" {
		t.Errorf("status %d, %s", res.status, res.body)
	}
	checkStuck(t, "HTTP", res.failure(t))
	if err := <-ended; !errors.Is(err, errHandlerRunning) {
		t.Errorf("ended with %v", err)
	}
	if entries, counts, _ := r.totals(); entries != counts || entries != 1 {
		t.Errorf("%d entries, counted %d", entries, counts)
	}
	close(open)
}
