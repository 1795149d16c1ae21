package boundary

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// BenchmarkHTTPSuccess measures the overhead of a success compared with the SDK's own handler: once without a network, where the
// layer dominates, and once from the client's side.
func BenchmarkHTTPSuccess(b *testing.B) {
	for _, c := range []struct {
		name string
		o    mcp.StreamableHTTPOptions
	}{{"events", mcp.StreamableHTTPOptions{Stateless: true}}, {"JSON", mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}}} {
		server, plain := demoServer(), demoServer()
		bare, ours := streamable(c.o)(nil, plain), Install(server, Options{Logger: quiet}).HTTP(streamable(c.o)(nil, server))
		body := request("7", "tools/call", `{"name":"echo","arguments":{"text":"`+strings.Repeat(longText, 4)+`"}}`)
		header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		b.Run(c.name+"/handler", func(b *testing.B) {
			run := func(h http.Handler) func() {
				return func() {
					r := httptest.NewRequest(http.MethodPost, "http://localhost/", strings.NewReader(body))
					r.Header = header
					w := httptest.NewRecorder()
					if h.ServeHTTP(w, r); w.Code != 200 || !strings.Contains(w.Body.String(), "quick") {
						b.Fatal(w.Code, w.Body)
					}
				}
			}
			compareHTTP(b, 300, run(bare), run(ours))
		})
		b.Run(c.name+"/network", func(b *testing.B) {
			run := func(h http.Handler) func() {
				srv := httptest.NewServer(h)
				b.Cleanup(srv.Close)
				return func() {
					r, _ := http.NewRequestWithContext(b.Context(), http.MethodPost, srv.URL, strings.NewReader(body))
					r.Header = header
					res, err := http.DefaultClient.Do(r)
					if err != nil || res.StatusCode != 200 {
						b.Fatal(res, err)
					}
					_, _ = io.Copy(io.Discard, res.Body)
					_ = res.Body.Close()
				}
			}
			compareHTTP(b, 200, run(bare), run(ours))
		})
	}
}

func compareHTTP(b *testing.B, n int, bare, ours func()) {
	for b.Loop() {
		ours()
	}
	medians := inTurns(n, bare, ours)
	b.ReportMetric(float64(medians[0].Nanoseconds()), "bare-ns")
	b.ReportMetric(float64((medians[1] - medians[0]).Nanoseconds()), "added-ns")
	b.ReportMetric(float64(medians[1])/float64(medians[0]), "x-bare")
}

// BenchmarkHTTPLayer measures the layer around a handler that only writes an answer.
func BenchmarkHTTPLayer(b *testing.B) {
	event := []byte("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"" + longText + "\"}]}}\n\n")
	inner := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(event)
		_ = http.NewResponseController(w).Flush()
	})
	ours := New(Options{Logger: quiet}).HTTP(inner)
	body := request("7", "tools/call", `{"name":"echo","arguments":{"text":"`+longText+`"}}`)
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Session-Id": {"x"}}
	run := func(h http.Handler) func() {
		return func() {
			r := httptest.NewRequest(http.MethodPost, "http://localhost/", strings.NewReader(body))
			r.Header = header
			h.ServeHTTP(httptest.NewRecorder(), r)
		}
	}
	b.ReportAllocs()
	compareHTTP(b, 2000, run(inner), run(ours))
	b.ReportMetric(testing.AllocsPerRun(200, run(ours))-testing.AllocsPerRun(200, run(inner)), "added-allocs")
}
