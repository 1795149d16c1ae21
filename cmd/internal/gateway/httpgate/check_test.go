package httpgate_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
	"github.com/candor-mcp/candor/wire"
)

// TestRequestsAreChecked checks target R15.
func TestRequestsAreChecked(t *testing.T) {
	reached := make(chan struct{}, 100)
	upstream := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached <- struct{}{}
		httpgatetest.Says(200, "application/json", good).ServeHTTP(w, r)
	})
	o := gateway.Options{Limits: gateway.Limits{Message: wire.Limits{MaxBytes: 1000}}}
	h := httpgate.Options{Hosts: []string{"gate.example"}, Origins: []string{"https://app.example"}}
	long := strings.Replace(httpgatetest.ToolCall, `"a"`, `"`+strings.Repeat("a", 1000)+`"`, 1)
	for _, row := range []struct {
		name, method, body string
		header             []string
		status             int
		code               string
	}{
		{"this machine", "POST", httpgatetest.ToolCall, nil, 200, ""},
		{"a known host", "POST", httpgatetest.ToolCall, []string{"Host", "gate.example"}, 200, ""},
		{"a rebound name", "POST", httpgatetest.ToolCall, []string{"Host", "evil.example"}, 403, "HOST_REFUSED"},
		{"a rebound name that reads", "GET", "", []string{"Host", "evil.example"}, 403, "HOST_REFUSED"},
		{"a known page", "POST", httpgatetest.ToolCall, []string{"Origin", "https://app.example"}, 200, ""},
		{"another page", "POST", httpgatetest.ToolCall, []string{"Origin", "https://evil.example"}, 403, "ORIGIN_REFUSED"},
		{"a page of nobody", "POST", httpgatetest.ToolCall, []string{"Origin", "null"}, 403, "ORIGIN_REFUSED"},
		{"a form", "POST", httpgatetest.ToolCall, []string{"Content-Type", "text/plain"}, 415, "MEDIA_TYPE_UNSUPPORTED"},
		{"packed", "POST", httpgatetest.ToolCall, []string{"Content-Encoding", "gzip"}, 415, "MEDIA_TYPE_UNSUPPORTED"},
		{"another method", "PUT", httpgatetest.ToolCall, nil, 405, "METHOD_NOT_ALLOWED"},
		{"a preflight", "OPTIONS", "", nil, 405, "METHOD_NOT_ALLOWED"},
		{"too large", "POST", long, nil, 413, "MESSAGE_TOO_LARGE"},
		{"no JSON", "POST", "hello", nil, 400, "PARSE_ERROR"},
		{"nothing", "POST", "", nil, 400, "PARSE_ERROR"},
		{"a batch", "POST", "[" + httpgatetest.ToolCall + "]", nil, 400, "BATCH_UNSUPPORTED"},
		{"a call with a name twice", "POST", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","name":"b"}}`, nil, 200, "INVALID_REQUEST"},
		{"an id of the wrong kind", "POST", `{"jsonrpc":"2.0","id":true,"method":"x"}`, nil, 400, "INVALID_REQUEST"},
	} {
		g := httpgatetest.NewGate(t, upstream, o, h)
		got := httpgatetest.Send(t, row.method, g.URL, row.body, row.header...)
		if got.Status != row.status {
			t.Errorf("%s: %d %s", row.name, got.Status, got.Body)
		}
		if row.code == "" {
			<-reached
			continue
		}
		if m := wire.Parse(got.Body, wire.Limits{}); httpgatetest.CodeOf(m) != row.code {
			t.Errorf("%s: %s", row.name, got.Body)
		}
		const denied = `"_meta":{"io.modelcontextprotocol/authorization":{"reason":"insufficient_authorization","remediation":"unavailable"}}`
		if strings.Contains(string(got.Body), denied) != (row.status == 403) {
			t.Errorf("%s: a denial: %s", row.name, got.Body)
		}
		if row.status == 413 && !strings.Contains(string(got.Body), `"id":7`) {
			t.Errorf("whose call was too large? %s", got.Body)
		}
		g.CheckTotals(t, 1)
	}
	if len(reached) > 0 {
		t.Errorf("%d refused requests reached the upstream", len(reached))
	}
}

func TestATokenIsAskedForAndKept(t *testing.T) {
	g := httpgatetest.NewGate(t, httpgatetest.Says(200, "application/json", good), gateway.Options{}, httpgate.Options{Token: "right"})
	for _, row := range []struct {
		said   string
		status int
	}{{"", 401}, {"Bearer wrong", 401}, {"Basic right", 401}, {"Bearer ", 401}, {"bearer right", 200}} {
		var header []string
		if row.said != "" {
			header = []string{"Authorization", row.said}
		}
		got := g.Post(t, httpgatetest.ToolCall, header...)
		denied := strings.Contains(string(got.Body), `"io.modelcontextprotocol/authorization":{"reason":"insufficient_authorization","remediation":"available"}`)
		if got.Status != row.status || (row.status == 401) != (got.Header.Get("WWW-Authenticate") != "") || denied != (row.status == 401) {
			t.Errorf("%q: %d %s", row.said, got.Status, got.Body)
		}
	}
}

func TestBodyThatDoesNotArriveTimesOut(t *testing.T) {
	g := httpgatetest.NewGate(t, httpgatetest.Says(200, "application/json", good), gateway.Options{}, httpgate.Options{ClientTimeout: 100 * time.Millisecond})
	conn := dialGate(t, g)
	_, _ = conn.Write([]byte("POST /door HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"jsonrpc\":"))
	got := make([]byte, 4096)
	n, err := conn.Read(got)
	if err != nil || !strings.HasPrefix(string(got[:n]), "HTTP/1.1 408") {
		t.Errorf("%q %v", got[:n], err)
	}
}
