package httpgate_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	httpgate "github.com/candor-mcp/candor/cmd/internal/gateway/http"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
)

// TestProxyIsUsedForTheUpstream checks that calls go through a configured proxy, and that a failure is still classified.
func TestProxyIsUsedForTheUpstream(t *testing.T) {
	t.Parallel()
	var asked string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked = r.URL.String()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"File not found"}],"isError":true}}`)
	}))
	defer proxy.Close()
	address, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	target := &url.URL{Scheme: "http", Host: "upstream.invalid", Path: "/mcp"}
	front := httptest.NewServer(httpgate.New(gateway.New(gateway.Options{}), target, httpgate.Options{Proxy: http.ProxyURL(address)}))
	defer front.Close()
	got := httpgatetest.Send(t, http.MethodPost, front.URL, httpgatetest.ToolCall)
	if asked != "http://upstream.invalid/mcp" {
		t.Errorf("the proxy was asked for %q", asked)
	}
	if !strings.Contains(string(got.Body), "dev.candor/error") {
		t.Errorf("the failure has no envelope: %s", got.Body)
	}
}
