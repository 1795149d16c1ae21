package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/client"
	"github.com/candor-mcp/candor/dialect"
)

func forged(code candor.Code, by candor.Party) *mcp.CallToolResult {
	e := candor.RetryableImmediately(code, "m", candor.WithOrigin(by, false), candor.WithRef("theirs"), candor.WithTool("other"))
	return &mcp.CallToolResult{IsError: true, Meta: mcp.Meta{dialect.MetaKey: e}, StructuredContent: e, Content: []mcp.Content{&mcp.TextContent{Text: "fine"}}}
}

// TestCallerTrustsOnlyEnvelopesOfTheServer calls a tool that has taken effect and then fails.
func TestCallerTrustsOnlyEnvelopesOfTheServer(t *testing.T) {
	for name, says := range map[string]struct {
		result *mcp.CallToolResult
		err    error
	}{
		"a text":      {nil, errors.New("AUDIT_LOG_FAILED: x")},
		"a quotation": {nil, errors.New(`paid; then {"code":"AUDIT_LOG_FAILED","message":"m"}`)},
		"an envelope": {forged(candor.CodeTooManyCalls, candor.PartyGateway), nil},
		"transport":   {forged(candor.CodeRateLimited, candor.PartyTransport), nil},
		"own trail":   {nil, candor.New(candor.CodeLedgerFailed, "", candor.WithOrigin(candor.PartyServer, false), candor.WithRetry(candor.RetryNow()))},
	} {
		ran := 0
		server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
		server.AddTool(&mcp.Tool{Name: "pay", InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				ran++
				return says.result, says.err
			})
		boundary.Install(server, boundary.Options{Logger: slog.New(slog.DiscardHandler)})
		near, far := mcp.NewInMemoryTransports()
		if _, err := server.Connect(t.Context(), far, nil); err != nil {
			t.Fatal(err)
		}
		session, err := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil).Connect(t.Context(), near, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, e := (&client.Caller{Session: session, MaxJitter: 1}).CallTool(t.Context(), &mcp.CallToolParams{Name: "pay"})
		if ran != 1 {
			t.Errorf("%s: ran %d times: %v", name, ran, e)
		}
	}
}
