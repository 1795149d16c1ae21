package httpgate_test

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
	"github.com/candor-mcp/candor/internal/testing/testbinary"
	"github.com/candor-mcp/candor/wire"
)

func TestMain(m *testing.M) {
	flag.Parse()
	testbinary.Parallel(8) // the tests that may run at the same time mostly wait
	os.Exit(m.Run())
}

// testClock is a clock that tests advance.
type testClock struct {
	mu  sync.Mutex
	now time.Time
}

func newTestClock() *testClock {
	return &testClock{now: time.Date(2026, 11, 15, 9, 30, 0, 0, time.UTC)}
}

func (c *testClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *testClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// guarded is an HTTP gateway in front of a server with scripted tools, which counts the calls that reach it.
type guarded struct {
	*httpgatetest.Gate
	t     *testing.T
	clock *testClock
	list  string                                   // the elements of tools/list
	tools map[string]func(arguments string) string // each returns a result, or "HTTP" and a status; "" hangs up

	mu      sync.Mutex
	reached map[string]int
	id      int
}

// toolSays returns a result with that text, and toolFails one with isError set.
func toolSays(text string) string {
	return fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, text)
}
func toolFails(text string) string {
	return fmt.Sprintf(`{"content":[{"type":"text","text":%q}],"isError":true}`, text)
}

// newGuarded starts the server and the gateway, and lists the tools.
func newGuarded(t *testing.T, o gateway.Options, list string, tools map[string]func(string) string) *guarded {
	t.Helper()
	g := &guarded{t: t, clock: newTestClock(), list: list, tools: tools, reached: map[string]int{}}
	o.Now = g.clock.Now
	g.Gate = httpgatetest.NewGate(t, http.HandlerFunc(g.serve), o, httpgate.Options{})
	g.Post(t, `{"jsonrpc":"2.0","id":"list","method":"tools/list"}`, httpgate.SessionHeader, "s1")
	return g
}

func (g *guarded) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m := wire.Parse(body, wire.Limits{})
	result := `{"tools":[` + g.list + `]}`
	if m.MethodIs("tools/call") {
		name, _ := m.Params().Path("name").Str()
		g.mu.Lock()
		g.reached[name]++
		g.mu.Unlock()
		if result = g.tools[name](string(m.Params().Path("arguments").Raw())); result == "" {
			panic(http.ErrAbortHandler)
		}
	}
	var status int
	if n, _ := fmt.Sscanf(result, "HTTP %d", &status); n == 1 {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID(), result)
}

// calls returns the number of calls of a tool that reached the server.
func (g *guarded) calls(tool string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.reached[tool]
}

// call calls a tool in session s1; Code is "" for a success.
func (g *guarded) call(tool, arguments string) gatewaytest.Advised {
	g.t.Helper()
	return g.callIn("s1", tool, arguments)
}

func (g *guarded) callIn(session, tool, arguments string) gatewaytest.Advised {
	g.t.Helper()
	g.mu.Lock()
	g.id++
	id := g.id
	g.mu.Unlock()
	return gatewaytest.ReadAdvice(g.t, string(g.Post(g.t, gatewaytest.ToolCall(id, tool, arguments), httpgate.SessionHeader, session).Body))
}
