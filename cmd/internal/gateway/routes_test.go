package gateway_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
)

// route sends one request through a gateway to an upstream that gives one fixed answer, and returns what the client gets.
type route struct {
	name string
	ask  func(t *testing.T, o gateway.Options, request, answer string) (got string, kept *books)
}

// routes are all the ways on which an answer can pass a gateway.
var routes = []route{{"stdio", askChild}, {"http", askHTTP}, {"sse", askSSE}, {"bridge", askBridge}}

// overRoutes runs a test on every route.
func overRoutes(t *testing.T, test func(t *testing.T, r route)) {
	t.Helper()
	for _, r := range routes {
		t.Run(r.name, func(t *testing.T) { test(t, r) })
	}
}

// scripted is a child process that answers initialize properly and every tools/call and resources/read with the same line.
func scripted(t *testing.T, answer string) gateway.Child {
	t.Helper()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell to run the upstream")
	}
	const script = `while IFS= read -r line; do case "$line" in
*'"initialize"'*) printf '%s\n' "$HELLO";;
*'"tools/call"'*|*'"resources/read"'*) printf '%s\n' "$ANSWER";;
esac; done`
	hello := `{"jsonrpc":"2.0","id":"hello","result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`
	return gateway.Child{
		Command: shell, Args: []string{"-c", script}, Env: append(os.Environ(), "HELLO="+hello, "ANSWER="+answer), Grace: time.Second,
	}
}

func quiet(o gateway.Options) (gateway.Options, *books) {
	kept := &books{}
	o.Name, o.Ledger, o.Meter = "upstream", kept, kept
	o.Repeats.Off, o.Breaker.Off = true, true
	return o, kept
}

func askChild(t *testing.T, o gateway.Options, request, answer string) (string, *books) {
	t.Helper()
	o, kept := quiet(o)
	fromClient, in := io.Pipe()
	fromGateway, out := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := gateway.Wrap(context.Background(), gateway.New(o), gateway.Streams{In: fromClient, Out: out}, scripted(t, answer)); err != nil {
			t.Error(err)
		}
		_ = out.Close()
	}()
	if _, err := io.WriteString(in, request+"\n"); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(fromGateway)
	line, err := lines.ReadString('\n')
	if err != nil {
		t.Fatalf("the gateway ended: %v", err)
	}
	_ = in.Close()
	_, _ = io.Copy(io.Discard, lines)
	<-done
	return strings.TrimSuffix(line, "\n"), kept
}

func askHTTP(t *testing.T, o gateway.Options, request, answer string) (string, *books) {
	t.Helper()
	o, _ = quiet(o)
	g := newGate(t, says(http.StatusOK, "application/json", answer), o, gateway.HTTPOptions{})
	return string(g.post(t, request).body), g.books
}

func askSSE(t *testing.T, o gateway.Options, request, answer string) (string, *books) {
	t.Helper()
	o, _ = quiet(o)
	g := newGate(t, says(http.StatusOK, "text/event-stream", "data: "+answer+"\n\n"), o, gateway.HTTPOptions{})
	return onlyMessage(t, g.post(t, request)), g.books
}

func askBridge(t *testing.T, o gateway.Options, request, answer string) (string, *books) {
	t.Helper()
	o, kept := quiet(o)
	b := gateway.NewBridge(gateway.New(o), scripted(t, answer), gateway.BridgeOptions{})
	front := httptest.NewServer(b)
	t.Cleanup(func() {
		front.CloseClientConnections()
		_ = b.Close(context.Background())
		front.Close()
	})
	hello := send(t, http.MethodPost, front.URL, `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25",`+
		`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	session := hello.header.Get("Mcp-Session-Id")
	if session == "" {
		t.Fatalf("no session: %d %s", hello.status, hello.body)
	}
	send(t, http.MethodPost, front.URL, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id", session)
	return onlyMessage(t, send(t, http.MethodPost, front.URL, request, "Mcp-Session-Id", session)), kept
}
