package httpgate_test

import (
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
	"github.com/candor-mcp/candor/wire"
)

// heartbeats are events that keep a connection open and are not JSON-RPC messages.
var heartbeats = map[string]string{
	"text":             "data: ping\n\n",
	"with an id":       "id: 4\ndata: ping\n\n",
	"a number":         "data: 1\n\n",
	"null":             "data: null\n\n",
	"an empty object":  "data: {}\n\n",
	"an object":        "data: {\"type\":\"ping\"}\n\n",
	"a typed message":  "event: message\ndata: keep-alive\n\n",
	"an empty list":    "data: []\n\n",
	"several lines":    "data: a\ndata: b\n\n",
	"another type":     "event: ping\ndata: {}\n\n",
	"a large other":    "event: ping\ndata: " + strings.Repeat("x", 40<<10) + "\n\n",
	"a comment":        ": ping\n\n",
	"an open comment":  ": ping\n",
	"a large comment":  ": " + strings.Repeat("x", 100<<10) + "\n\n",
	"many of them":     strings.Repeat("data: ping\n\n", 100),
	"an unknown field": "foo: " + strings.Repeat("x", 100<<10) + "\n\n",
}

func TestHeartbeatBeforeTheAnswerDoesNotLoseIt(t *testing.T) {
	limits := gateway.Limits{Message: wire.Limits{MaxBytes: 32 << 10}}
	for name, beat := range heartbeats {
		for _, mode := range []gateway.Mode{gateway.ModeAnnotate, gateway.ModeStrict, gateway.ModeObserve} {
			g := httpgatetest.NewGate(t, httpgatetest.Says(200, "text/event-stream", beat+"data: "+good+"\n\n"), gateway.Options{Limits: limits, Mode: mode}, httpgate.Options{})
			got := g.Post(t, httpgatetest.ToolCall)
			m := got.Terminal(t, "7")
			if string(m.Bytes()) != good || len(g.Codes()) != 0 {
				t.Errorf("%s in %s: %v %.400s", name, mode, g.Codes(), got.Body)
			}
			if mode != gateway.ModeObserve && len(got.Messages(t)) != 1 {
				t.Errorf("%s in %s: the client has to read %.400s", name, mode, got.Body)
			}
			if name == "with an id" && !strings.Contains(string(got.Body), "id: 4\n") {
				t.Errorf("%s: the id is lost: %s", mode, got.Body)
			}
		}
	}
}

func TestStreamOfNothingButNoiseIsMalformed(t *testing.T) {
	g := httpgatetest.NewGate(t, httpgatetest.Says(200, "text/event-stream", "data: <html>oops</html>\n\n"), gateway.Options{}, httpgate.Options{})
	got := g.Post(t, httpgatetest.ToolCall)
	if m := got.Terminal(t, "7"); httpgatetest.CodeOf(m) != "UPSTREAM_MALFORMED" {
		t.Errorf("%s", got.Body)
	}
	g.CheckTotals(t, 1)
}

// watchHeap samples the heap until the returned function is called, which returns its maximum growth.
func watchHeap(t *testing.T) func() uint64 {
	t.Helper()
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc
	var most atomic.Uint64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most.Store(max(most.Load(), m.HeapAlloc))
			}
		}
	}()
	return func() uint64 {
		close(stop)
		<-done
		return most.Load() - min(before, most.Load())
	}
}

// TestTypesThatClientsReadAsMessagesAreRead answers with events whose type differs from "message" in what some clients ignore.
func TestTypesThatClientsReadAsMessagesAreRead(t *testing.T) {
	const failure = `{"jsonrpc":"2.0","id":7,"result":{"isError":true,"content":[{"type":"text","text":"password=hunter2hunter2"}]}}`
	for _, kind := range []string{" message", "message ", "Message"} {
		g := httpgatetest.NewGate(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "event: "+kind+"\ndata: "+failure+"\n\n")
		}), gateway.Options{}, httpgate.Options{})
		body := string(g.Post(t, httpgatetest.ToolCall).Body)
		if strings.Contains(body, "hunter2") || strings.Count(body, `"id":7`) != 1 || !strings.Contains(body, "dev.candor/error") {
			t.Errorf("%q: %s", kind, body)
		}
	}
}
