package boundary

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

// written writes chunks through the layer, each with one call of Write, and returns the response body.
func written(t *testing.T, b *Boundary, kind string, status int, chunks ...string) string {
	t.Helper()
	inner := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		for _, chunk := range chunks {
			if n, err := io.WriteString(w, chunk); n != len(chunk) || err != nil {
				t.Errorf("Write: %d, %v", n, err)
			}
			_ = http.NewResponseController(w).Flush()
		}
	})
	req := httptest.NewRequest(http.MethodPost, "http://localhost/", strings.NewReader(request("1", "tools/list", "{}")))
	req.Header.Set("Content-Type", "application/json")
	res := httptest.NewRecorder()
	b.HTTP(inner).ServeHTTP(res, req)
	if n := res.Header().Get("Content-Length"); n != "" && n != slog.IntValue(res.Body.Len()).String() {
		t.Errorf("Content-Length %s for %d bytes", n, res.Body.Len())
	}
	return res.Body.String()
}

func TestCleanEventsPassByteForByte(t *testing.T) {
	b := New(Options{Logger: quiet})
	for _, stream := range []string{
		": ok\n\n",
		"event: prime\nid: x_0\ndata: \n\n",
		"event: message\nid: x_1\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"error\":\"only data\",\"isError\":true}}\n\n",
		"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"data\":{\"error\":{\"code\":1,\"message\":\"x\"}}}}\n\n",
		"data: {\"error\":{\"code\":1},\"no\":\"JSON-RPC\"}\n\n",
		"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"error\"\n\n",
		"event: x\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\r\n\r\n",
		"data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\r\rdata: 2\n\r\ndata: 3\r\n\n",
		"retry: 5\n\ndata: 1\n\ndata: cut off",
		"\n\n\n",
	} {
		if got := written(t, b, "text/event-stream", 200, stream); got != stream {
			t.Errorf("%q became %q", stream, got)
		}
		if got := written(t, b, "text/event-stream", 200, strings.Split(stream, "")...); got != stream {
			t.Errorf("in pieces %q became %q", stream, got)
		}
	}
}

func TestErrorInEventIsRecordedOnce(t *testing.T) {
	const before = ": c\n\nevent: message\nid: s_1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n"
	const failed = "event: message\nid: s_2\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":0,\"message\":\"method \\\"x\\\" is invalid during session initialization\"}}\n\n"
	const after = "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n\n"
	for _, chunks := range [][]string{
		{before, failed, after}, {before + failed + after}, strings.Split(before+failed+after, ""), {before + failed[:40], failed[40:] + after},
	} {
		count := new(tally)
		got := written(t, New(Options{Ledger: count, Meter: count, Logger: quiet}), "text/event-stream", 200, chunks...)
		if !strings.Contains(got, before+"event: message\nid: s_2\ndata: {") || !strings.HasSuffix(got, "\n\n"+after) || !strings.Contains(got, "NOT_INITIALIZED") {
			t.Errorf("%d chunks: %q", len(chunks), got)
		}
		if entries, counts, _ := count.totals(); entries != 1 || counts != 1 {
			t.Errorf("%d chunks: %d entries, %d counts", len(chunks), entries, counts)
		}
	}
}

func TestAnEventKeepsItsLineEnds(t *testing.T) {
	got := written(t, New(Options{Logger: quiet}), "text/event-stream", 200,
		"id: 1\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":0,\"message\":\"x\"}}\r\n\r\n: next\r\n\r\n")
	if !strings.HasPrefix(got, "id: 1\r\ndata: {") || !strings.HasSuffix(got, "}}}}\r\n\r\n: next\r\n\r\n") {
		t.Errorf("%q", got)
	}
}

func TestAPlainJSONAnswerIsHeldOnlyIfItMayBeAnError(t *testing.T) {
	count := new(tally)
	b := New(Options{Ledger: count, Meter: count, Logger: quiet})
	good := `{"jsonrpc":"2.0","id":1,"result":{"error":"only data"}}`
	for _, chunks := range [][]string{{good}, {good[:20], good[20:]}, {good[:40], good[40:]}, strings.Split(good, "")} {
		if got := written(t, b, "application/json", 200, chunks...); got != good {
			t.Errorf("%q", got)
		}
	}
	bad := `{"jsonrpc":"2.0","id":1,"error":{"code":0,"message":"disk on fire"}}`
	for i, chunks := range [][]string{{bad}, {bad[:20], bad[20:]}, strings.Split(bad, "")} {
		if got := written(t, b, "application/json", 200, chunks...); !strings.Contains(got, "dev.candor/error") {
			t.Errorf("%q", got)
		}
		if entries, counts, _ := count.totals(); entries != i+1 || counts != i+1 {
			t.Errorf("%d entries, %d counts", entries, counts)
		}
	}
}

func TestServeEndsCleanly(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- serveOn(ctx, listener, demoServer(), Options{Logger: quiet}) }()
	session := connect(t, "http://"+listener.Addr().String(), "2025-11-25", nil) // it also keeps a stream open
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "plain"})
	if e := received(result, err); e == nil || e.Code() != candor.CodeInternalError {
		t.Errorf("%v %v", result, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// serveOn adds a boundary to a server and serves it on a listener.
func serveOn(ctx context.Context, listener net.Listener, server *mcp.Server, o Options) error {
	return Install(server, o).serveListener(ctx, listener, server)
}

func FuzzHiddenIDsComeBack(f *testing.F) {
	for _, seed := range []string{`1.5`, `9007199254740993`, `-0`, `1E400`, `"a"`} {
		f.Add([]byte(`{"jsonrpc":"2.0","id":` + seed + `,"method":"notifications/cancelled","params":{"requestId":` + seed + `}}`))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m := wire.Parse(data, wire.Limits{})
		if m.Kind() != wire.KindRequest && m.Kind() != wire.KindNotification || bytes.Contains(data, []byte("candor-id:")) {
			return
		}
		hidden := hideIDs(&m)
		if hidden == nil {
			return
		}
		if changed := wire.Parse(hidden, wire.Limits{}); changed.Kind() != m.Kind() {
			t.Errorf("%s became %s", data, hidden)
		}
		if shown := showIDs(hidden); !bytes.Equal(shown, data) {
			t.Errorf("%s came back as %s", data, shown)
		}
	})
}

func FuzzCleanEventsPassInAnyPieces(f *testing.F) {
	f.Add([]byte(": c\n\ndata: 1\r\rdata: 2\r\n\r\nid: x\ndata: cut"), uint16(3))
	f.Add([]byte("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n"), uint16(1))
	b := New(Options{Logger: quiet})
	f.Fuzz(func(t *testing.T, stream []byte, size uint16) {
		if bytes.Contains(stream, []byte("error")) {
			return
		}
		var chunks []string
		for rest := stream; len(rest) > 0; {
			n := min(len(rest), int(size%64)+1)
			chunks, rest = append(chunks, string(rest[:n])), rest[n:]
		}
		if got := written(t, b, "text/event-stream", 200, chunks...); got != string(stream) {
			t.Errorf("%q became %q", stream, got)
		}
	})
}
