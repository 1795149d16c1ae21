package httpgate_test

import (
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	httpgate "github.com/candor-mcp/candor/cmd/internal/gateway/http"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
	"github.com/candor-mcp/candor/wire"
)

// shop lists two tools, one of which reports that its remote service is down. While down is set, the server answers every request
// with 503.
func shop(down *atomic.Bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m := wire.Parse(body, wire.Limits{})
		if down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		result := `{"content":[{"type":"text","text":"sold"}]}`
		switch {
		case m.MethodIs("tools/list"):
			result = `{"tools":[{"name":"search"},{"name":"sell"}]}`
		case !m.Params().Path("name").Is("sell"):
			result = `{"content":[{"type":"text","text":"503 Service Unavailable"}],"isError":true}`
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID(), result)
	})
}

// shopGate returns a function that calls a tool of the shop through a gateway whose breaker opens at the second failure.
func shopGate(t *testing.T, down *atomic.Bool) (call func(tool string) string) {
	t.Helper()
	g := httpgatetest.NewGate(t, shop(down), gateway.Options{
		Breaker: gateway.BreakerPolicy{Failures: 2}, Repeats: gateway.RepeatPolicy{Off: true}, Validate: gateway.ValidationOff,
	}, httpgate.Options{})
	g.Post(t, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	return func(tool string) string {
		t.Helper()
		return httpgatetest.CodeOf(g.Post(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":%q}}`, tool)).Terminal(t, "2"))
	}
}

// The server has answered, so it works; the tool may work for the next caller.
func TestAToolWhoseServiceIsDownIsNotRefused(t *testing.T) {
	call := shopGate(t, new(atomic.Bool))
	for i := range 4 {
		if got := call("search"); got != "UPSTREAM_UNAVAILABLE" {
			t.Errorf("call %d of the tool: %s", i, got)
		}
		if got := call("invented"); got != "UPSTREAM_UNAVAILABLE" {
			t.Errorf("call %d of a tool that was never listed: %s", i, got)
		}
	}
}

func TestBreakerOpensForAllToolsOfAServerThatIsDown(t *testing.T) {
	var down atomic.Bool
	call := shopGate(t, &down)
	down.Store(true)
	for i, want := range []string{"UPSTREAM_UNAVAILABLE", "UPSTREAM_UNAVAILABLE", "CIRCUIT_OPEN"} {
		if got := call([]string{"search", "sell"}[i%2]); got != want {
			t.Errorf("call %d: %s, want %s", i, got, want)
		}
	}
}
