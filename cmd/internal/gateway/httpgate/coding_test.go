package httpgate_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
)

// packed compresses a text.
func packed(t testing.TB, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return out.String()
}

func TestCompressedAnswersAreRead(t *testing.T) {
	failed := `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"disk on fire"}],"isError":true}}`
	for _, coding := range []string{"gzip", "x-gzip", "GZip"} {
		for kind, frame := range map[string]string{"application/json": "%", "text/event-stream": ": hi\n\ndata: %\n\n"} {
			whole := strings.Replace(frame, "%", good, 1)
			g := httpgatetest.NewGate(t, httpgatetest.Says(200, kind, packed(t, whole), "Content-Encoding", coding, "Etag", `"1"`), gateway.Options{}, httpgate.Options{})
			got := g.Post(t, httpgatetest.ToolCall)
			if string(got.Body) != whole || got.Status != 200 || got.Header.Get("Content-Encoding")+got.Header.Get("Etag") != "" {
				t.Errorf("%q %s: %d %v %q", coding, kind, got.Status, got.Header, got.Body)
			}
			g = httpgatetest.NewGate(t, httpgatetest.Says(200, kind, packed(t, strings.Replace(frame, "%", failed, 1)), "Content-Encoding", coding), gateway.Options{}, httpgate.Options{})
			if got := g.Post(t, httpgatetest.ToolCall); httpgatetest.CodeOf(got.Terminal(t, "7")) == "" || !strings.Contains(string(got.Body), "disk on fire") {
				t.Errorf("%q %s: %s", coding, kind, got.Body)
			}
			g.CheckTotals(t, 1)
		}
	}
}

func TestCompressedRejectionsKeepStatusAndHeaders(t *testing.T) {
	for coding, body := range map[string]string{"gzip": packed(t, "please log in"), "br": "please log in", "x-gzip": "damaged"} {
		for _, status := range []int{401, 403, 404, 405} {
			g := httpgatetest.NewGate(t, httpgatetest.Says(status, "text/plain", body, "Content-Encoding", coding, "WWW-Authenticate", "Bearer x"), gateway.Options{}, httpgate.Options{})
			for method, message := range map[string]string{http.MethodPost: httpgatetest.ToolCall, http.MethodGet: "", http.MethodDelete: ""} {
				got := httpgatetest.Send(t, method, g.URL, message, "Mcp-Session-Id", "s", "Accept-Encoding", "identity")
				want := ""
				if coding == "gzip" {
					want = "please log in"
				}
				if got.Status != status || got.Header.Get("WWW-Authenticate") != "Bearer x" || got.Header.Get("Content-Encoding") != "" || string(got.Body) != want {
					t.Errorf("%s %s %d: %d %v %q", coding, method, status, got.Status, got.Header, got.Body)
				}
			}
		}
		g := httpgatetest.NewGate(t, httpgatetest.Says(429, "text/plain", body, "Content-Encoding", coding, "Retry-After", "37"), gateway.Options{}, httpgate.Options{})
		if got := g.Post(t, httpgatetest.ToolCall); httpgatetest.CodeOf(got.Terminal(t, "7")) != "UPSTREAM_RATE_LIMITED" || !strings.Contains(string(got.Body), "37000") {
			t.Errorf("%s: %s", coding, got.Body)
		}
	}
}

// The tool may have run, so the answer must not advise to repeat the call.
func TestUnreadableCodingIsNotAnInvitationToRepeat(t *testing.T) {
	whole := packed(t, good)
	for _, row := range [][2]string{
		{"br", "\x0b\x02\x80"}, {"gzip, gzip", packed(t, whole)}, {strings.Repeat("a", 500), "x"}, {"gzip", "not gzip"}, {"gzip", whole[:30]},
		{"gzip", whole[:40] + "damage" + whole[46:]},
	} {
		for _, mode := range []gateway.Mode{gateway.ModeAnnotate, gateway.ModeStrict} {
			for _, kind := range []string{"application/json", "text/event-stream"} {
				g := httpgatetest.NewGate(t, httpgatetest.Says(200, kind, row[1], "Content-Encoding", row[0]), gateway.Options{Mode: mode, Retry: gateway.RetryPolicy{Attempts: 3}}, httpgate.Options{})
				got := g.Post(t, httpgatetest.ToolCall)
				m := got.Terminal(t, "7")
				retry, _ := m.Result().Path("_meta", "dev.candor/error", "retry", "kind").Str()
				if httpgatetest.CodeOf(m) != "UPSTREAM_BAD_RESPONSE" || strings.Contains(string(got.Body), "same call again") || retry == "retryable_after_ms" {
					t.Errorf("%.20q %s %s: %s", row, mode, kind, got.Body)
				}
				g.CheckTotals(t, 1)
			}
		}
	}
	g := httpgatetest.NewGate(t, httpgatetest.Says(200, "application/json", "packed", "Content-Encoding", "br"), gateway.Options{Mode: gateway.ModeObserve}, httpgate.Options{})
	if got := g.Post(t, httpgatetest.ToolCall); string(got.Body) != "packed" || got.Header.Get("Content-Encoding") != "br" || len(g.Codes()) != 1 {
		t.Errorf("observed: %v %s", got.Header, got.Body)
	}
}

func TestDecompressionIsBounded(t *testing.T) {
	zeros := strings.Repeat(packed(t, strings.Repeat("\x00", 16<<20)), 8)
	for name, row := range map[string][3]string{
		"a body": {zeros, "application/json", "TOO_LARGE"}, "an event": {packed(t, "data: ") + zeros, "text/event-stream", "TOO_LARGE"},
		"a comment": {packed(t, ": ") + zeros, "text/event-stream", "UPSTREAM_GONE"},
	} {
		g := httpgatetest.NewGate(t, httpgatetest.Says(200, row[1], row[0], "Content-Encoding", "gzip"), gateway.Options{}, httpgate.Options{})
		peak := watchHeap(t)
		if code := httpgatetest.CodeOf(g.Post(t, httpgatetest.ToolCall).Terminal(t, "7")); code != row[2] {
			t.Errorf("%s: %s", name, code)
		}
		if most := peak(); most > 80<<20 {
			t.Errorf("%s: %d MiB", name, most>>20)
		}
	}
}

func TestCompressedStreamIsPassedOnAsItComes(t *testing.T) {
	next := make(chan struct{})
	const note = `{"jsonrpc":"2.0","method":"notifications/message"}`
	g := httpgatetest.NewGate(t, heard(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Content-Encoding", "gzip")
		packed := gzip.NewWriter(w)
		_, _ = io.WriteString(packed, "data: "+note+"\n\n")
		_ = packed.Flush()
		_ = http.NewResponseController(w).Flush()
		<-next
		_, _ = io.WriteString(packed, "data: "+good+"\n\n")
		_ = packed.Close()
	}), gateway.Options{}, httpgate.Options{})
	s := open(t, http.MethodPost, g.URL, httpgatetest.ToolCall, "Accept-Encoding", "gzip")
	if e := s.next(t); string(e.Data) != note || s.res.Header.Get("Content-Encoding") != "" {
		t.Errorf("%v %s", s.res.Header, e.Raw)
	}
	close(next)
	if e := s.next(t); string(e.Data) != good {
		t.Errorf("%s", e.Raw)
	}
}
