package bridge

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
	"github.com/candor-mcp/candor/internal/testing/sweep"
)

// collidingIDs are ids that many clients use, and unusual ones.
var collidingIDs = []string{`1`, `"1"`, `1.0`, `9007199254740993`, `9007199254740992`, `"a\u0062"`, `-0`, `1e3`, `""`}

func TestClientsThatShareAServerNeverGetEachOthersAnswers(t *testing.T) {
	s := spanned(t, gateway.Options{}, brokenServer(), Options{Shared: true})
	clients, calls := 16, 1000/sweep.Step(5, 10)
	var wait sync.WaitGroup
	failed := make(chan int, clients)
	for n := range clients {
		wait.Go(func() {
			c, dice, failures := s.greet(), rand.New(rand.NewPCG(1, uint64(n))), 0
			for i := range calls {
				id, mine := collidingIDs[dice.IntN(len(collidingIDs))], fmt.Sprintf("client %d call %d", n, i)
				tool := "echo"
				if i%10 == 9 {
					tool, mine = "fail", "no such page"
					failures++
				}
				got := c.post(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":{"text":"` + mine + `"}}}`)
				if !strings.HasPrefix(got.body, `{"jsonrpc":"2.0","id":`+id+`,`) || !strings.Contains(got.body, mine) {
					t.Errorf("%s: %+v", mine, got)
					break
				}
			}
			failed <- failures
		})
	}
	wait.Wait()
	close(failed)
	sum := 0
	for n := range failed {
		sum += n
	}
	if len(s.b.hosts) != 1 {
		t.Errorf("%d servers", len(s.b.hosts))
	}
	s.CheckTotals(t, sum)
}

func TestProgressAndCancellationOfASharedServerAreThoseOfOneClient(t *testing.T) {
	s := spanned(t, gateway.Options{}, brokenServer(), Options{Shared: true})
	a, b := s.greet(), s.greet()
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"progress","arguments":{"n":%d,"ms":1},"_meta":{"progressToken":1}}}`
	var wait sync.WaitGroup
	for n, c := range []*client{a, b} {
		wait.Go(func() {
			want := 20 + n
			m := c.post(fmt.Sprintf(call, want)).messages()
			if len(m) != want+1 || !strings.Contains(m[want-1], fmt.Sprintf(`"progressToken":1,"progress":%d}`, want-1)) {
				t.Errorf("%d messages, want %d: %v", len(m), want+1, m)
			}
		})
	}
	wait.Wait()
	hangs := make(chan heard, 2)
	go func() { hangs <- a.call(1, "hang", `{}`) }()
	done := make(chan heard, 1)
	s.begun(1)
	go func() { done <- b.call(1, "late", `{"ms":200}`) }()
	s.begun(2)
	a.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if got := <-hangs; len(got.messages()) != 0 {
		t.Errorf("%+v", got)
	}
	if got := <-done; !strings.Contains(got.body, "late") {
		t.Errorf("%+v", got)
	}
	s.CheckTotals(t, 0)
}

func TestSharedServerNotifiesAllSessionsAndAsksNone(t *testing.T) {
	s := spanned(t, gateway.Options{}, brokenServer(), Options{Shared: true})
	a, b := s.greet(), s.greet()
	first, second := a.listen(), b.listen()
	defer first.close()
	defer second.close()
	a.call(1, "changed", `{}`)
	for _, stream := range []*stream{first, second} {
		if got := stream.next(); !strings.Contains(got, "list_changed") {
			t.Error(got)
		}
	}
	if got := a.call(2, "ask", `{}`); !strings.Contains(got.body, "-32601") {
		t.Errorf("%+v", got)
	}
	if a.send(http.MethodDelete, "", httpgate.SessionHeader, a.id).status != http.StatusOK || b.call(3, "echo", `{"text":"here"}`).status != http.StatusOK {
		t.Error("the end of one session is not that of the other")
	}
	s.CheckTotals(t, 0)
}

func TestTheDeathOfASharedServerEndsItsSessionsAndTheNextStartsAnother(t *testing.T) {
	s := spanned(t, gateway.Options{}, brokenServer(), Options{Shared: true})
	a, b := s.greet(), s.greet()
	hangs := make(chan heard, 1)
	go func() { hangs <- b.call(1, "hang", `{}`) }()
	s.begun(1)
	n := gatewaytest.CountFailed(a.call(1, "exit", `{}`).body, (<-hangs).body)
	gatewaytest.Eventually(t, "the sessions are gone", func() bool { return s.b.session(a.id) == nil && s.b.session(b.id) == nil })
	n += gatewaytest.CountFailed(a.call(2, "echo", `{}`).body)
	if n != 3 {
		t.Errorf("%d were told", n)
	}
	s.greet().call(1, "echo", `{}`)
	s.CheckTotals(t, n)
}

const stateless = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},` +
	`"io.modelcontextprotocol/clientCapabilities":{}}`

func TestHangUpWithoutASessionCancelsTheCall(t *testing.T) {
	s := spanned(t, gateway.Options{}, brokenServer(), Options{})
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hang","arguments":{}` + stateless + `}}`
	header := []string{httpgate.VersionHeader, "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "hang"}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.do(ctx, http.MethodPost, body, header...).Body.Close()
	}()
	s.begun(1)
	cancel()
	<-done
	gatewaytest.Eventually(t, "the call has ended", func() bool { return s.ByCode()["CANCELLED"] == 1 })
	s.CheckTotals(t, 0)
	if len(s.b.hosts) != 1 {
		t.Errorf("%d servers", len(s.b.hosts))
	}
	gatewaytest.Eventually(t, "the server that nobody uses has ended", func() bool {
		s.ahead.Add(31 * 60) // each time, because the request may end after its client and counts as a use
		s.b.sweep()
		s.b.mu.Lock()
		defer s.b.mu.Unlock()
		return len(s.b.hosts) == 0
	})
}
