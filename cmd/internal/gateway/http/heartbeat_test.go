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
	httpgate "github.com/candor-mcp/candor/cmd/internal/gateway/http"
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
	"an unknown field": "foo: " + strings.Repeat("x", 100<<10) + "\n",
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

// A heartbeat shows the client that the connection works, so it must be forwarded immediately.
func TestHeartbeatReachesTheClientAtOnce(t *testing.T) {
	answer := make(chan struct{})
	g := httpgatetest.NewGate(t, heard(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: ping\n\n")
		_ = http.NewResponseController(w).Flush()
		<-answer
		_, _ = io.WriteString(w, "data: "+good+"\n\n")
	}), gateway.Options{}, httpgate.Options{})
	s := open(t, http.MethodPost, g.URL, httpgatetest.ToolCall)
	if e, err := s.Next(); err != nil || len(e.Data) > 0 {
		t.Errorf("%q %v", e.Raw, err)
	}
	close(answer)
	if e := s.next(t); string(e.Data) != good {
		t.Errorf("%s", e.Raw)
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

func TestHeartbeatOnAListeningStreamIsNotRecorded(t *testing.T) {
	note := `{"jsonrpc":"2.0","method":"notifications/message"}`
	g := httpgatetest.NewGate(t, httpgatetest.Says(200, "text/event-stream", "data: ping\n\ndata: "+note+"\n\n"), gateway.Options{}, httpgate.Options{})
	got := httpgatetest.Send(t, http.MethodGet, g.URL, "", "Accept", "text/event-stream")
	if all := got.Messages(t); len(all) != 1 || string(all[0].Bytes()) != note || len(g.Codes()) != 0 {
		t.Errorf("%v %s", g.Codes(), got.Body)
	}
}

// TestCommentOf20MiBIsReadPastInBoundedMemory sends many such comments concurrently.
func TestCommentOf20MiBIsReadPastInBoundedMemory(t *testing.T) {
	piece := strings.Repeat("x", 64<<10)
	g := httpgatetest.NewGate(t, heard(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, ": ")
		for range 20 << 4 {
			_, _ = io.WriteString(w, piece)
		}
		_, _ = io.WriteString(w, "\ndata: "+good+"\n\n")
	}), gateway.Options{}, httpgate.Options{})
	peak := watchHeap(t)
	answers := make(chan string, 8)
	for range 8 {
		go func() { answers <- string(g.Post(t, httpgatetest.ToolCall).Body) }()
	}
	for range 8 {
		if got := <-answers; !strings.Contains(got, good) {
			t.Errorf("%.400s", got)
		}
	}
	if most := peak(); most > 32<<20 {
		t.Errorf("%d MiB for 8 comments of 20 MiB", most>>20)
	}
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
