package httpgate_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
	"github.com/candor-mcp/candor/dialect"
)

// TestClientThatNamesItselfGetsItsForm checks that the gateway takes the name from initialize, or from each request since protocol
// version 2026-07-28, and that the option wins over both.
func TestClientThatNamesItselfGetsItsForm(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "up", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "fail"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return nil, nil, errors.New("disk on fire")
	})
	back := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	t.Cleanup(back.Close)
	t.Cleanup(back.CloseClientConnections)
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		for _, c := range []struct {
			name, option string
			brief        bool
		}{{"gemini-cli-mcp-client", "", true}, {"gemini-cli-mcp-client-files", gateway.AutoClient, true}, {"c", "", false}, {"c", "gemini-cli", true}, {"gemini-cli-mcp-client", "zed", false}} {
			g := httpgatetest.GateTo(t, back, gateway.Options{Client: c.option}, httpgate.Options{})
			client := mcp.NewClient(&mcp.Implementation{Name: c.name, Version: "1"}, nil)
			s, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: g.URL}, &mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "fail", Arguments: map[string]any{}})
			if err != nil {
				t.Fatal(err)
			}
			envelope, _ := got.Meta[dialect.MetaKey].(map[string]any)
			if _, full := envelope["message"]; envelope["ref"] == nil || full == c.brief {
				t.Errorf("%s, %+v: %v", version, c, envelope)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
