package httpgate_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
)

func TestACleanAnswerOverHTTPPassesByteForByte(t *testing.T) {
	const odd = " {\"id\":9007199254740993 , \"jsonrpc\":\"2.0\",\"zz\":1.0,\"result\":{\"content\":[],\"n\":1e400} }\n"
	const events = ": hello\r\nretry: 10\r\n\r\nid: 4\nevent: message\ndata:{\"jsonrpc\":\"2.0\",\n" +
		"data:  \"id\":9007199254740993,\"result\":{}}\n\nevent: other\ndata: x\n\n"
	for kind, body := range map[string]string{"application/json; charset=utf-8": odd, "text/event-stream": events} {
		g := httpgatetest.NewGate(t, httpgatetest.Says(200, kind, body, "Mcp-Session-Id", "s1", "X-Own", "yes"), gateway.Options{}, httpgate.Options{})
		got := g.Post(t, `{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"x"}}`)
		if got.Status != 200 || string(got.Body) != body || got.Header.Get("Content-Type") != kind ||
			got.Header.Get("Mcp-Session-Id") != "s1" || got.Header.Get("X-Own") != "yes" {
			t.Errorf("%d %v\n%q\n%q", got.Status, got.Header, got.Body, body)
		}
		if codes := g.Codes(); len(codes) != 0 {
			t.Errorf("a success is recorded: %v", codes)
		}
	}
}

func TestARequestReachesTheUpstreamAsItWasSent(t *testing.T) {
	var got http.Request
	var body []byte
	g := httpgatetest.NewGate(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, body = *r, nil
		body, _ = io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":7,"result":{}}`)
	}), gateway.Options{}, httpgate.Options{Token: "t0ken", Header: http.Header{"X-Api-Key": {"k"}}})
	const sent = "\n" + httpgatetest.ToolCall + " "
	g.Post(t, sent, "Authorization", "Bearer t0ken", "Mcp-Session-Id", "s9", "Last-Event-ID", "e1", "X-Strange", "a b", "Connection", "X-Hop", "X-Hop", "1",
		"Mcp-Protocol-Version", "2025-11-25", "Accept-Encoding", "gzip", "X-Api-Key", "mine")
	if string(body) != sent {
		t.Errorf("body %q", body)
	}
	if got.Host != strings.TrimPrefix(g.Back.URL, "http://") || got.URL.Path != "/mcp" {
		t.Errorf("host %q path %q", got.Host, got.URL.Path)
	}
	for name, want := range map[string]string{"Mcp-Session-Id": "s9", "Last-Event-Id": "e1", "X-Strange": "a b", "Mcp-Protocol-Version": "2025-11-25",
		"X-Hop": "", "Authorization": "", "Accept-Encoding": "identity", "X-Api-Key": "k", "X-Forwarded-For": ""} {
		if got.Header.Get(name) != want {
			t.Errorf("%s: %q", name, got.Header.Get(name))
		}
	}
}

func TestEventsAreSentWhenTheyComeAndNotLater(t *testing.T) {
	next := make(chan struct{})
	g := httpgatetest.NewGate(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(200)
		for i := range 3 {
			_ = http.NewResponseController(w).Flush()
			<-next
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"n\":%d}}\n\n", i)
		}
		_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n\n")
	}), gateway.Options{}, httpgate.Options{})
	r, _ := http.NewRequestWithContext(context.Background(), http.MethodPost, g.URL, strings.NewReader(httpgatetest.ToolCall))
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r) // returns after the headers, before any event
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	lines := bufio.NewReader(res.Body)
	for i := range 3 {
		next <- struct{}{}
		line, err := lines.ReadString('\n')
		if err != nil || !strings.Contains(line, fmt.Sprintf(`"n":%d`, i)) {
			t.Fatalf("%q %v", line, err)
		}
		if _, err := lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
}

// TestConnectionHeadersAreNotForwarded checks RFC 9110, section 7.6.1, in both directions.
func TestConnectionHeadersAreNotForwarded(t *testing.T) {
	arrived := make(chan http.Header, 1)
	g := httpgatetest.NewGate(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived <- r.Header.Clone()
		httpgatetest.Says(200, "application/json", good, "Connection", "X-Hop", "X-Hop", "1", "Proxy-Authenticate", "Basic", "X-Kept", "1").ServeHTTP(w, r)
	}), gateway.Options{}, httpgate.Options{})
	conn := dialGate(t, g)
	fmt.Fprintf(conn, "POST /door HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\n"+
		"Te: trailers\r\nProxy-Authorization: Basic abc\r\nProxy-Connection: x\r\nX-Kept: 1\r\nContent-Length: %d\r\n\r\n%s", len(httpgatetest.ToolCall), httpgatetest.ToolCall)
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	for way, h := range map[string]http.Header{"there": <-arrived, "back": answer.Header} {
		for _, name := range []string{"X-Hop", "Te", "Proxy-Authorization", "Proxy-Authenticate", "Proxy-Connection"} {
			if h.Get(name) != "" {
				t.Errorf("%s: %s has passed", way, name)
			}
		}
		if h.Get("X-Kept") != "1" {
			t.Errorf("%s: a header that concerns everybody is lost", way)
		}
	}
}
