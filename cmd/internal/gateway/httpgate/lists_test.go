package httpgate_test

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
	"github.com/candor-mcp/candor/wire"
)

// tenants is a server without sessions that shows each tenant a different tool "work": that of "a" is read-only, that of "b"
// writes. A call with {"busy":…} fails with a retryable error.
type tenants struct {
	tenant func(r *http.Request, m *wire.Message) string
	mu     sync.Mutex
	calls  map[string]int // guarded by mu
}

func (s *tenants) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m := wire.Parse(body, wire.Limits{})
	who := s.tenant(r, &m)
	w.Header().Set("Content-Type", "application/json")
	result := fmt.Sprintf(`{"tools":[{"name":"work","inputSchema":{"type":"object","required":["key_%s"]},"annotations":{"readOnlyHint":%t}}]}`, who, who == "a")
	if m.MethodIs("tools/call") {
		s.mu.Lock()
		s.calls[who]++
		s.mu.Unlock()
		result = `{"content":[{"type":"text","text":"done"}]}`
		if m.Params().Path("arguments", "busy").Present() {
			result = `{"isError":true,"content":[{"type":"text","text":"503 Service Unavailable"}]}`
		}
	}
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID(), result)
}

func (s *tenants) callsOf(tenant string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[tenant]
}

// The list sent to one caller must not affect the calls of another, however the server distinguishes them.
func TestOneCallersListDoesNotBindAnother(t *testing.T) {
	t.Parallel()
	byHeader := func(name string) func(*http.Request, *wire.Message) string {
		return func(r *http.Request, _ *wire.Message) string { return r.Header.Get(name)[len(r.Header.Get(name))-1:] }
	}
	for name, c := range map[string]struct {
		tenant func(*http.Request, *wire.Message) string
		header func(tenant string) []string
		query  func(tenant string) string
		meta   func(tenant string) string
	}{
		"Authorization": {tenant: byHeader("Authorization"), header: func(who string) []string { return []string{"Authorization", "Bearer " + who} }},
		"X-Api-Key":     {tenant: byHeader("X-Api-Key"), header: func(who string) []string { return []string{"X-Api-Key", who} }},
		"Cookie":        {tenant: byHeader("Cookie"), header: func(who string) []string { return []string{"Cookie", "sid=" + who} }},
		"any header":    {tenant: byHeader("X-Tenant"), header: func(who string) []string { return []string{"X-Tenant", who} }},
		"a session that the server ignores": {tenant: byHeader("Authorization"), header: func(who string) []string {
			return []string{"Authorization", "Bearer " + who, "Mcp-Session-Id", "same"}
		}},
		"the query": {
			tenant: func(r *http.Request, _ *wire.Message) string { return r.URL.Query().Get("tenant") },
			query:  func(who string) string { return "?tenant=" + who },
		},
		"clientInfo": {
			tenant: func(_ *http.Request, m *wire.Message) string {
				who, _ := m.Params().Path("_meta", "io.modelcontextprotocol/clientInfo", "name").Str()
				return who
			},
			meta: func(who string) string {
				return `,"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"` + who + `","version":"1"},"example/toolUseId":"` + fmt.Sprint(who, 1) + `"}`
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &tenants{tenant: c.tenant, calls: map[string]int{}}
			g := httpgatetest.NewGate(t, s, gateway.Options{Retry: gateway.RetryPolicy{Attempts: 3}, Breaker: gateway.BreakerPolicy{Off: true}}, httpgate.Options{})
			ask := func(who, method, params string) string {
				var header []string
				address, meta := g.URL, ""
				if c.header != nil {
					header = c.header(who)
				}
				if c.query != nil {
					address += c.query(who)
				}
				if c.meta != nil {
					meta = c.meta(who)
				}
				got := httpgatetest.Send(t, http.MethodPost, address, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+meta+`}}`, header...)
				return httpgatetest.CodeOf(got.Terminal(t, "1"))
			}
			call := func(who, arguments string) string {
				return ask(who, "tools/call", `"name":"work","arguments":`+arguments)
			}
			ask("a", "tools/list", `"cursor":""`)
			if code := call("a", `{}`); code != "INVALID_ARGUMENTS" || s.callsOf("a") != 0 {
				t.Errorf("a's own list does not check a's call: %q, %d calls", code, s.callsOf("a"))
			}
			if code := call("b", `{"key_b":1}`); code != "" || s.callsOf("b") != 1 {
				t.Errorf("a's list refuses b's valid call: %s", code)
			}
			call("b", `{"key_a":1,"key_b":1,"busy":1}`)
			if n := s.callsOf("b"); n != 2 {
				t.Errorf("a's list has b's writing call made %d times", n-1)
			}
			call("a", `{"key_a":1,"busy":1}`)
			if n := s.callsOf("a"); n != 3 {
				t.Errorf("a's reading call was made %d times, want 3", n)
			}
		})
	}
}
