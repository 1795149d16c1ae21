package httpgate_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
	"github.com/candor-mcp/candor/wire"
)

const good = `{"jsonrpc":"2.0","id":7,"result":{"content":[]}}`

// badAnswers are invalid answers with the code that the caller gets for each. They are sent as a whole response and as an event.
var badAnswers = map[string]struct{ said, code string }{
	"result and error":  {`{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1,"message":"x"}}`, "UPSTREAM_MALFORMED"},
	"neither":           {`{"jsonrpc":"2.0","id":7}`, "UPSTREAM_MALFORMED"},
	"nested too deeply": {`{"jsonrpc":"2.0","id":7,"result":` + strings.Repeat(`[`, 500) + strings.Repeat(`]`, 500) + `}`, "UPSTREAM_MALFORMED"},
	"bad UTF-8":         {"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"a\":\"\xff\"}}", "UPSTREAM_MALFORMED"},
	"a batch":           {`[` + good + `]`, "UPSTREAM_MALFORMED"},
	"cut short":         {`{"jsonrpc":"2.0","id":7,"resu`, "UPSTREAM_MALFORMED"},
	"no JSON":           {`<html>oops</html>`, "UPSTREAM_MALFORMED"},
	"a name twice":      {`{"jsonrpc":"2.0","id":7,"id":7,"result":{}}`, "UPSTREAM_MALFORMED"},
	"too large":         {`{"jsonrpc":"2.0","id":7,"result":{"a":"` + strings.Repeat("x", 64<<10) + `"}}`, "TOO_LARGE"},
}

func TestMalformedAnswerOverHTTPIsReported(t *testing.T) {
	small := gateway.Options{Limits: gateway.Limits{Message: wire.Limits{MaxBytes: 32 << 10}}, Breaker: gateway.BreakerPolicy{Off: true}}
	for name, bad := range badAnswers {
		for kind, body := range map[string]string{"application/json": bad.said, "text/event-stream": "data: " + bad.said + "\n\n"} {
			t.Run(name+" as "+kind, func(t *testing.T) {
				g := httpgatetest.NewGate(t, httpgatetest.Says(200, kind, body), small, httpgate.Options{})
				got := g.Post(t, httpgatetest.ToolCall)
				if code := httpgatetest.CodeOf(got.Terminal(t, "7")); code != bad.code || got.Status != 200 {
					t.Errorf("%d %s\n%s", got.Status, code, got.Body)
				}
				g.CheckTotals(t, 1)
			})
		}
	}
}

// deaths are upstreams that never finish their answer.
var deaths = map[string]struct {
	serve func(http.ResponseWriter, *http.Request)
	code  string
}{
	"hangs": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "CALL_TIMEOUT"},
	"hangs after the headers": {func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}, "CALL_TIMEOUT"},
	"hangs after an event": {func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}, "CALL_TIMEOUT"},
	"sends one byte at a time": {func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, " ")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(5 * time.Millisecond) // the server is slow, not silent
		}
	}, "CALL_TIMEOUT"},
	"sends its headers slowly":  {hijacked("HTTP/1.1 200 OK\r\nX-A: ", true), "CALL_TIMEOUT"},
	"closes at once":            {hijacked("", false), "UPSTREAM_GONE"},
	"closes inside the headers": {hijacked("HTTP/1.1 200 OK\r\nContent-Ty", false), "UPSTREAM_GONE"},
	"speaks something else":     {hijacked("SSH-2.0-OpenSSH_9.9\r\n\r\n", false), "UPSTREAM_GONE"},
	"closes inside the body": {hijacked("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"jsonrpc\"", false),
		"UPSTREAM_GONE"},
	"closes inside a chunk": {hijacked("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{\"jsonrpc\"", false),
		"UPSTREAM_GONE"},
	"closes inside an event": {hijacked("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n10\r\ndata: {\"jsonrpc\"\r\n", false),
		"UPSTREAM_GONE"},
	"ends a stream without an answer": {hijacked("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 4\r\n\r\n: x\n", false),
		"UPSTREAM_GONE"},
	"says nothing but that it has heard": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(202) }, "UPSTREAM_MALFORMED"},
	"answers with a question": {func(w http.ResponseWriter, r *http.Request) {
		httpgatetest.Says(200, "application/json", `{"jsonrpc":"2.0","id":7,"method":"ping"}`).ServeHTTP(w, r)
	}, "UPSTREAM_MALFORMED"},
	"redirects": {func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/", http.StatusTemporaryRedirect)
	}, "UPSTREAM_BAD_RESPONSE"},
	"packs a bomb": {func(w http.ResponseWriter, r *http.Request) {
		httpgatetest.Says(200, "application/json", bomb(), "Content-Encoding", "gzip").ServeHTTP(w, r)
	}, "UPSTREAM_MALFORMED"},
}

// heard reads the request first, because only then does net/http notice that the peer disconnects.
func heard(serve http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		serve(w, r)
	})
}

// hijacked sends some bytes and then closes the connection, or keeps it open without sending more.
func hijacked(said string, hang bool) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, said)
		if hang {
			_, _ = rw.ReadByte() // until the peer gives up
		}
	}
}

// bomb must be computed before the call that receives it, because on a busy machine that takes longer than the deadline. It is
// not computed at init, since this binary is also the server of many tests.
var bomb = sync.OnceValue(func() string {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(make([]byte, 1<<20))
	_ = w.Close()
	return packed.String()
})

func TestACallThatIsLostOverHTTPIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	bomb()
	for name, death := range deaths {
		for _, call := range []string{httpgatetest.ToolCall, `{"jsonrpc":"2.0","id":7,"method":"resources/list"}`} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				deadline := gatewaytest.TooLong // not met by chance on a busy machine
				if death.code == "CALL_TIMEOUT" {
					deadline = 200 * time.Millisecond
				}
				g := httpgatetest.NewGate(t, heard(death.serve), gateway.Options{Timeout: deadline}, httpgate.Options{})
				got := g.Post(t, call)
				if code := httpgatetest.CodeOf(got.Terminal(t, "7")); code != death.code || got.Status != 200 || got.Err != nil {
					t.Errorf("%d %s %v\n%s", got.Status, code, got.Err, got.Body)
				}
				g.CheckTotals(t, 1)
			})
		}
	}
}

func TestAnUpstreamThatIsAwayIsSaidToBe(t *testing.T) {
	away := &httptest.Server{URL: "http://127.0.0.1:1"} // another program may listen on a port that was closed
	g := httpgatetest.GateTo(t, away, gateway.Options{}, httpgate.Options{})
	got := g.Post(t, httpgatetest.ToolCall)
	if m := got.Terminal(t, "7"); httpgatetest.CodeOf(m) != "UPSTREAM_UNREACHABLE" || strings.Contains(string(got.Body), "127.0.0.1") {
		t.Errorf("%s", got.Body)
	}
	if got := g.Post(t, `{"jsonrpc":"2.0","method":"notifications/x"}`); got.Status != http.StatusBadGateway {
		t.Errorf("a notification: %d", got.Status)
	}
	if got := httpgatetest.Send(t, http.MethodGet, g.URL, "", "Accept", "text/event-stream"); got.Status != http.StatusBadGateway {
		t.Errorf("a stream: %d", got.Status)
	}
}

func TestARejectionKeepsItsStatusAndGainsTheEnvelope(t *testing.T) {
	for _, row := range []struct {
		status int
		body   string
		header []string
		code   string
		after  int64
	}{
		{400, "JSON RPC not handled: \"x\" unsupported", nil, "METHOD_NOT_FOUND", 0},
		{400, "no", nil, "UPSTREAM_REJECTED", 0},
		{404, "404 page not found", nil, "UPSTREAM_NOT_FOUND", 0},
		{429, `{"error":"slow down"}`, []string{"Retry-After", "37"}, "UPSTREAM_RATE_LIMITED", 37000},
		{500, "boom", nil, "UPSTREAM_ERROR", 1000},
		{502, "<html>nginx</html>", nil, "UPSTREAM_UNAVAILABLE", 1000},
		{503, "", []string{"Retry-After", "5"}, "UPSTREAM_UNAVAILABLE", 5000},
		{504, "", nil, "UPSTREAM_TIMEOUT", 1000},
	} {
		upstream := httpgatetest.Says(row.status, "text/plain", row.body, row.header...)
		g := httpgatetest.NewGate(t, upstream, gateway.Options{}, httpgate.Options{})
		got := g.Post(t, `{"jsonrpc":"2.0","id":"a","method":"prompts/list"}`)
		m := got.Terminal(t, `"a"`)
		after, _ := m.Error().Path("data", "dev.candor/error", "retry", "afterMs").Int64()
		if got.Status != row.status || m.Kind() != wire.KindError || httpgatetest.CodeOf(m) != row.code || after != row.after {
			t.Errorf("%d: %d %s", row.status, got.Status, got.Body)
		}
		// Clients read the result of a tool only with a success status.
		tool := g.Post(t, httpgatetest.ToolCall)
		if m := tool.Terminal(t, "7"); tool.Status != 200 && m.Kind() == wire.KindResult || httpgatetest.CodeOf(m) != row.code {
			t.Errorf("%d tool: %d %s", row.status, tool.Status, tool.Body)
		}
		g.CheckTotals(t, 2)

		g = httpgatetest.NewGate(t, upstream, gateway.Options{Mode: gateway.ModeObserve}, httpgate.Options{})
		if got := g.Post(t, httpgatetest.ToolCall); got.Status != row.status || string(got.Body) != row.body {
			t.Errorf("%d observed: %d %s", row.status, got.Status, got.Body)
		}
		g.CheckTotals(t, 0)
	}
}

func TestRejectionsThatClientsActOnPassUntouched(t *testing.T) {
	for _, status := range []int{401, 403, 405, 404} {
		g := httpgatetest.NewGate(t, httpgatetest.Says(status, "text/plain", "as it is", "WWW-Authenticate", "Bearer x"), gateway.Options{}, httpgate.Options{})
		got := g.Post(t, httpgatetest.ToolCall, "Mcp-Session-Id", "s")
		if got.Status != status || string(got.Body) != "as it is" || got.Header.Get("WWW-Authenticate") != "Bearer x" {
			t.Errorf("%d: %d %s %v", status, got.Status, got.Body, got.Header)
		}
		g.CheckTotals(t, 0)
		if len(g.Codes()) != 1 {
			t.Errorf("%d: %v", status, g.Codes())
		}
	}
}

func TestAnswersToNothingOnAStreamAreNotDelivered(t *testing.T) {
	stray := "data: {\"jsonrpc\":\"2.0\",\"id\":8,\"result\":{}}\n\n"
	g := httpgatetest.NewGate(t, httpgatetest.Says(200, "text/event-stream", stray+"data: "+good+"\n\ndata: "+good+"\n\n"+stray), gateway.Options{}, httpgate.Options{})
	got := g.Post(t, httpgatetest.ToolCall)
	got.Terminal(t, "7")
	if strings.Contains(string(got.Body), `"id":8`) {
		t.Errorf("%s", got.Body)
	}
	g.CheckTotals(t, 0)
	if !slices.Contains(g.Codes(), "candor/STRAY_ANSWER") {
		t.Errorf("%v", g.Codes())
	}
}

func TestAFloodOfNotificationsIsNotHeld(t *testing.T) {
	const many = 50_000
	g := httpgatetest.NewGate(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for range many {
			_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\n")
		}
		_, _ = io.WriteString(w, "data: "+good+"\n\n")
	}), gateway.Options{}, httpgate.Options{})
	got := g.Post(t, httpgatetest.ToolCall)
	if n := len(got.Messages(t)); n != many+1 {
		t.Errorf("%d messages", n)
	}
}

func TestAnAnswerOf32MiBDoesNotFillTheMemory(t *testing.T) {
	piece := strings.Repeat("x", 1<<20)
	g := httpgatetest.NewGate(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.Header.Get("X-Kind"))
		_, _ = io.WriteString(w, `data: {"jsonrpc":"2.0","id":7,"result":{"a":"`)
		for range 32 {
			_, _ = io.WriteString(w, piece)
		}
		_, _ = io.WriteString(w, "\"}}\n\n")
	}), gateway.Options{}, httpgate.Options{})
	for _, kind := range []string{"application/json", "text/event-stream"} {
		if m := g.Post(t, httpgatetest.ToolCall, "X-Kind", kind).Terminal(t, "7"); httpgatetest.CodeOf(m) != "TOO_LARGE" {
			t.Errorf("%s", m.Bytes())
		}
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > 64<<20 {
		t.Errorf("%d MiB are held", m.HeapAlloc>>20)
	}
}

const progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}`

func TestProgressExtendsTheDeadlineOfALegacyCallButNotForEver(t *testing.T) {
	t.Parallel()
	messages, say := make(chan string, 4), make(chan string)
	g := httpgatetest.NewGate(t, legacyServer("/messages", messages, say), gateway.Options{Timeout: 3 * time.Second, Timeouts: map[string]time.Duration{"endless": 100 * time.Millisecond}}, httpgate.Options{})
	s := open(t, http.MethodGet, g.URL, "")
	address := g.URL + string(s.next(t).Data)
	answer := func() wire.Message {
		for {
			if e := s.next(t); string(e.Data) != progress {
				m := wire.Parse(e.Data, wire.Limits{})
				return m.Clone()
			}
		}
	}
	const asks = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":%q,"_meta":{"progressToken":"p"}}}`
	httpgatetest.Send(t, http.MethodPost, address, fmt.Sprintf(asks, "long"))
	go func() {
		for range 14 {
			say <- progress
			time.Sleep(250 * time.Millisecond) // all of them together take longer than one deadline
		}
		say <- good
	}()
	if m := answer(); httpgatetest.CodeOf(m) != "" {
		t.Errorf("%s", m.Bytes())
	}
	httpgatetest.Send(t, http.MethodPost, address, fmt.Sprintf(asks, "endless"))
	over := make(chan struct{})
	go func() {
		for range time.Tick(5 * time.Millisecond) {
			select {
			case say <- progress:
			case <-over:
				return
			}
		}
	}()
	if m := answer(); httpgatetest.CodeOf(m) != "CALL_TIMEOUT" {
		t.Errorf("%s", m.Bytes())
	}
	close(over)
}

func TestASecondAnswerOverHTTPIsDroppedAndCounted(t *testing.T) {
	second := strings.Replace(good, `[]`, `[{"type":"text","text":"second"}]`, 1)
	g := httpgatetest.NewGate(t, httpgatetest.Says(200, "text/event-stream", "data: "+good+"\n\ndata: "+second+"\n\n"), gateway.Options{}, httpgate.Options{})
	m := g.Post(t, httpgatetest.ToolCall).Terminal(t, "7")
	if string(m.Bytes()) != good || g.Up.Late() != 1 {
		t.Errorf("%s, %d late answers", m.Bytes(), g.Up.Late())
	}
}
