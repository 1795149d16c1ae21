package httpgate_test

import (
	"net/http"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
)

func TestOfficialClientSurvivesFailuresOfItsServer(t *testing.T) {
	server := httpgatetest.SDKServer(make(chan struct{}, 1))
	sdk := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	var broken func(http.ResponseWriter, *http.Request)
	g := httpgatetest.NewGate(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && broken != nil {
			broken(w, r)
			return
		}
		sdk.ServeHTTP(w, r)
	}), gateway.Options{Breaker: gateway.BreakerPolicy{Off: true}, Repeats: gateway.RepeatPolicy{Off: true}}, httpgate.Options{})
	c := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil)
	s, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: g.URL}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for _, status := range []int{400, 404 + 1000, 409, 429, 500, 501, 502, 503, 504} {
		broken = httpgatetest.Says(status%1000, "text/plain", "no").ServeHTTP
		if status > 1000 {
			broken = hijacked("", false)
		}
		got, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "progress", Arguments: map[string]any{}})
		if err != nil || !got.IsError {
			t.Errorf("%d: %v %v", status, got, err)
		}
		broken = nil
		if _, err := s.ListTools(t.Context(), nil); err != nil {
			t.Fatalf("after %d: %v", status, err)
		}
	}
}
