package bridge_test

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
	"github.com/candor-mcp/candor/cmd/internal/gateway/bridge"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/gateway/stdio"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
)

// route sends one request through a gateway to an upstream with one fixed answer, and returns the client's answer.
type route struct {
	name string
	ask  func(t *testing.T, o gateway.Options, request, answer string) (got string, kept *gatewaytest.Books)
}

// routes are all routes of an answer through a gateway.
var routes = []route{{"stdio", askChild}, {"http", askHTTP}, {"sse", askSSE}, {"bridge", askBridge}}

// overRoutes runs a test on every route.
func overRoutes(t *testing.T, test func(t *testing.T, r route)) {
	t.Helper()
	for _, r := range routes {
		t.Run(r.name, func(t *testing.T) { test(t, r) })
	}
}

// scripted is a child process that answers initialize correctly and every tools/call and resources/read with the same line.
func scripted(t *testing.T, answer string) stdio.Child {
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
	return stdio.Child{
		Command: shell, Args: []string{"-c", script}, Env: append(os.Environ(), "HELLO="+hello, "ANSWER="+answer), Grace: time.Second,
	}
}

func quiet(o gateway.Options) (gateway.Options, *gatewaytest.Books) {
	kept := &gatewaytest.Books{}
	o.Name, o.Ledger, o.Meter = "upstream", kept, kept
	o.Repeats.Off, o.Breaker.Off = true, true
	return o, kept
}

func askChild(t *testing.T, o gateway.Options, request, answer string) (string, *gatewaytest.Books) {
	t.Helper()
	o, kept := quiet(o)
	fromClient, in := io.Pipe()
	fromGateway, out := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := stdio.Wrap(context.Background(), gateway.New(o), stdio.Streams{In: fromClient, Out: out}, scripted(t, answer)); err != nil {
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

func askHTTP(t *testing.T, o gateway.Options, request, answer string) (string, *gatewaytest.Books) {
	t.Helper()
	o, _ = quiet(o)
	g := httpgatetest.NewGate(t, httpgatetest.Says(http.StatusOK, "application/json", answer), o, httpgate.Options{})
	return string(g.Post(t, request).Body), g.Books
}

func askSSE(t *testing.T, o gateway.Options, request, answer string) (string, *gatewaytest.Books) {
	t.Helper()
	o, _ = quiet(o)
	g := httpgatetest.NewGate(t, httpgatetest.Says(http.StatusOK, "text/event-stream", "data: "+answer+"\n\n"), o, httpgate.Options{})
	return httpgatetest.OnlyMessage(t, g.Post(t, request)), g.Books
}

func askBridge(t *testing.T, o gateway.Options, request, answer string) (string, *gatewaytest.Books) {
	t.Helper()
	o, kept := quiet(o)
	b := bridge.New(gateway.New(o), scripted(t, answer), bridge.Options{})
	front := httptest.NewServer(b)
	t.Cleanup(func() {
		front.CloseClientConnections()
		_ = b.Close(context.Background())
		front.Close()
	})
	hello := httpgatetest.Send(t, http.MethodPost, front.URL, `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25",`+
		`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	session := hello.Header.Get("Mcp-Session-Id")
	if session == "" {
		t.Fatalf("no session: %d %s", hello.Status, hello.Body)
	}
	httpgatetest.Send(t, http.MethodPost, front.URL, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id", session)
	return httpgatetest.OnlyMessage(t, httpgatetest.Send(t, http.MethodPost, front.URL, request, "Mcp-Session-Id", session)), kept
}
