package httpgate_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	httpgate "github.com/candor-mcp/candor/cmd/internal/gateway/http"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
)

// coded compresses a text with the codings in order.
func coded(t testing.TB, text string, codings ...string) string {
	t.Helper()
	for _, coding := range codings {
		var out bytes.Buffer
		var w io.WriteCloser
		switch coding {
		case "gzip", "x-gzip":
			w = gzip.NewWriter(&out)
		case "deflate":
			w = zlib.NewWriter(&out)
		case "raw deflate":
			w, _ = flate.NewWriter(&out, flate.BestCompression)
		default:
			continue
		}
		_, _ = io.WriteString(w, text)
		_ = w.Close()
		text = out.String()
	}
	return text
}

var codings = map[string][]string{
	"gzip": {"gzip"}, "x-gzip": {"gzip"}, "GZip": {"gzip"}, "deflate": {"deflate"}, "identity, gzip": {"gzip"}, "gzip, deflate": {"gzip", "deflate"},
	"gzip,gzip": {"gzip", "gzip"}, "deflate ": {"raw deflate"}, "identity": nil, "": nil,
}

func TestCompressedAnswersAreRead(t *testing.T) {
	failed := `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"disk on fire"}],"isError":true}}`
	for said, with := range codings {
		for kind, frame := range map[string]string{"application/json": "%", "text/event-stream": ": hi\n\ndata: %\n\n"} {
			whole := strings.Replace(frame, "%", good, 1)
			g := httpgatetest.NewGate(t, httpgatetest.Says(200, kind, coded(t, whole, with...), "Content-Encoding", said, "Etag", `"1"`), gateway.Options{}, httpgate.Options{})
			got := g.Post(t, httpgatetest.ToolCall, "Accept-Encoding", "identity")
			if string(got.Body) != whole || got.Status != 200 || len(with) > 0 && got.Header.Get("Content-Encoding")+got.Header.Get("Etag") != "" {
				t.Errorf("%q %s: %d %v %q", said, kind, got.Status, got.Header, got.Body)
			}
			g = httpgatetest.NewGate(t, httpgatetest.Says(200, kind, coded(t, strings.Replace(frame, "%", failed, 1), with...), "Content-Encoding", said), gateway.Options{}, httpgate.Options{})
			if got := g.Post(t, httpgatetest.ToolCall); httpgatetest.CodeOf(got.Terminal(t, "7")) == "" || !strings.Contains(string(got.Body), "disk on fire") {
				t.Errorf("%q %s: %s", said, kind, got.Body)
			}
			g.CheckTotals(t, 1)
		}
	}
}

// A client that accepts the coding gets the bytes that the server sent, if nothing in them has to be changed.
func TestCompressedSuccessPassesAsItIsToAClientThatAcceptsIt(t *testing.T) {
	packed := coded(t, good, "gzip")
	for _, row := range []struct {
		accept string
		mode   gateway.Mode
		want   string
	}{
		{"gzip", gateway.ModeAnnotate, packed}, {"br, GZIP;q=0.5", gateway.ModeAnnotate, packed}, {"x-gzip", gateway.ModeAnnotate, packed},
		{"gzip;q=0", gateway.ModeAnnotate, good}, {"identity", gateway.ModeAnnotate, good}, {"br", gateway.ModeStrict, good}, {"identity", gateway.ModeObserve, packed},
	} {
		g := httpgatetest.NewGate(t, httpgatetest.Says(200, "application/json", packed, "Content-Encoding", "gzip", "Etag", `"1"`), gateway.Options{Mode: row.mode}, httpgate.Options{})
		got := g.Post(t, httpgatetest.ToolCall, "Accept-Encoding", row.accept)
		if string(got.Body) != row.want || (got.Header.Get("Content-Encoding") == "gzip") != (row.want == packed) || (got.Header.Get("Etag") != "") != (row.want == packed) {
			t.Errorf("%s: %v %q", row.accept, got.Header, got.Body)
		}
	}
}

func TestCompressedRejectionsKeepStatusAndHeaders(t *testing.T) {
	for _, coding := range []string{"gzip", "deflate", "br", "zstd", "gzip, gzip, gzip", "damaged gzip"} {
		said := strings.TrimPrefix(coding, "damaged ")
		body := coded(t, "please log in", coding)
		for _, status := range []int{401, 403, 404, 405} {
			g := httpgatetest.NewGate(t, httpgatetest.Says(status, "text/plain", body, "Content-Encoding", said, "WWW-Authenticate", "Bearer x"), gateway.Options{}, httpgate.Options{})
			for method, message := range map[string]string{http.MethodPost: httpgatetest.ToolCall, http.MethodGet: "", http.MethodDelete: ""} {
				got := httpgatetest.Send(t, method, g.URL, message, "Mcp-Session-Id", "s", "Accept-Encoding", "identity")
				readable := coding == "gzip" || coding == "deflate"
				if got.Status != status || got.Header.Get("WWW-Authenticate") != "Bearer x" || got.Header.Get("Content-Encoding") != "" ||
					readable != (string(got.Body) == "please log in") || !readable && len(got.Body) > 0 {
					t.Errorf("%s %s %d: %d %v %q", coding, method, status, got.Status, got.Header, got.Body)
				}
			}
		}
		g := httpgatetest.NewGate(t, httpgatetest.Says(429, "text/plain", body, "Content-Encoding", said, "Retry-After", "37"), gateway.Options{}, httpgate.Options{})
		if got := g.Post(t, httpgatetest.ToolCall); httpgatetest.CodeOf(got.Terminal(t, "7")) != "UPSTREAM_RATE_LIMITED" || !strings.Contains(string(got.Body), "37000") {
			t.Errorf("%s: %s", coding, got.Body)
		}
	}
}

// The tool may have run, so the answer must not advise to repeat the call.
func TestUnreadableCodingIsNotAnInvitationToRepeat(t *testing.T) {
	for said, body := range map[string]string{
		"br": "\x0b\x02\x80", "zstd": "(\xb5/\xfd", "compress": "x", "gzip, gzip, gzip": coded(t, good, "gzip", "gzip", "gzip"), strings.Repeat("a", 500): "x",
		"gzip": "not gzip", "gzip ": coded(t, good, "gzip")[:30], "deflate": "\xff\xff", "deflate, gzip": coded(t, "no", "gzip"),
		" gzip": coded(t, good, "gzip")[:40] + "damage" + coded(t, good, "gzip")[46:],
	} {
		for _, mode := range []gateway.Mode{gateway.ModeAnnotate, gateway.ModeStrict} {
			for _, kind := range []string{"application/json", "text/event-stream"} {
				g := httpgatetest.NewGate(t, httpgatetest.Says(200, kind, body, "Content-Encoding", said), gateway.Options{Mode: mode, Retry: gateway.RetryPolicy{Attempts: 3}}, httpgate.Options{})
				got := g.Post(t, httpgatetest.ToolCall)
				m := got.Terminal(t, "7")
				retry, _ := m.Result().Path("_meta", "dev.candor/error", "retry", "kind").Str()
				if httpgatetest.CodeOf(m) != "UPSTREAM_BAD_RESPONSE" || strings.Contains(string(got.Body), "same call again") || retry == "retryable_after_ms" {
					t.Errorf("%.20q %s %s: %s", said, mode, kind, got.Body)
				}
				g.CheckTotals(t, 1)
			}
		}
	}
	g := httpgatetest.NewGate(t, httpgatetest.Says(200, "application/json", "packed", "Content-Encoding", "br"), gateway.Options{Mode: gateway.ModeObserve}, httpgate.Options{})
	if got := g.Post(t, httpgatetest.ToolCall); string(got.Body) != "packed" || got.Header.Get("Content-Encoding") != "br" || len(g.Codes()) != 1 {
		t.Errorf("observed: %v %s", got.Header, got.Body)
	}
	g = httpgatetest.NewGate(t, httpgatetest.Says(200, "text/event-stream", "packed", "Content-Encoding", "br"), gateway.Options{}, httpgate.Options{})
	if got := httpgatetest.Send(t, http.MethodGet, g.URL, ""); got.Status != http.StatusBadGateway || strings.Contains(string(got.Body), "packed") {
		t.Errorf("a stream: %d %s", got.Status, got.Body)
	}
}

// TestDecompressionIsBounded checks memory and CPU time, for one coding and for two.
func TestDecompressionIsBounded(t *testing.T) {
	zeros := gzipZeros(t, 128<<20)
	nested := coded(t, gzipZeros(t, 512<<20), "gzip")
	for name, row := range map[string]struct{ body, said, kind string }{
		"gzip":         {zeros, "gzip", "application/json"},
		"nested":       {nested, "gzip, gzip", "application/json"},
		"an event":     {coded(t, "data: ", "gzip") + zeros, "gzip", "text/event-stream"},
		"nested event": {nested, "gzip, gzip", "text/event-stream"},
		"a comment":    {coded(t, ": ", "gzip") + zeros, "gzip", "text/event-stream"},
	} {
		for _, accept := range []string{"identity", "gzip"} {
			g := httpgatetest.NewGate(t, httpgatetest.Says(200, row.kind, row.body, "Content-Encoding", row.said), gateway.Options{}, httpgate.Options{})
			peak := watchHeap(t)
			got := g.Post(t, httpgatetest.ToolCall, "Accept-Encoding", accept)
			if code := httpgatetest.CodeOf(got.Terminal(t, "7")); code != "TOO_LARGE" {
				t.Errorf("%s: %s", name, code)
			}
			if most := peak(); most > 80<<20 {
				t.Errorf("%s: %d MiB", name, most>>20)
			}
		}
	}
	g := httpgatetest.NewGate(t, httpgatetest.Says(401, "text/plain", zeros, "Content-Encoding", "gzip"), gateway.Options{}, httpgate.Options{})
	if got := g.Post(t, httpgatetest.ToolCall); got.Status != 401 || len(got.Body) > 0 {
		t.Errorf("%d, %d bytes", got.Status, len(got.Body))
	}
}

// gzipZeros compresses n zeros in members of 16 MiB, of which only one is computed.
func gzipZeros(t testing.TB, n int) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	zeros := make([]byte, 1<<20)
	for range 16 {
		_, _ = w.Write(zeros)
	}
	_ = w.Close()
	return strings.Repeat(out.String(), n>>24)
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

func TestLegacyServerMayCompressItsStream(t *testing.T) {
	end := make(chan struct{})
	g := httpgatetest.NewGate(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Content-Encoding", "deflate")
		packed, _ := flate.NewWriter(w, 1)
		_, _ = io.WriteString(packed, "event: endpoint\ndata: /messages\n\n")
		_ = packed.Flush()
		_ = http.NewResponseController(w).Flush()
		select {
		case <-end:
		case <-r.Context().Done():
		}
	}), gateway.Options{}, httpgate.Options{})
	defer close(end)
	if e := open(t, http.MethodGet, g.URL, "", "Accept-Encoding", "identity").next(t); !strings.HasPrefix(string(e.Data), "?candor=") {
		t.Errorf("%s", e.Raw)
	}
}
