package client_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/client"
	"github.com/candor-mcp/candor/dialect"
)

// laterEnvelope is an error of a later version of the contract.
const laterEnvelope = `{"code":"CARRIER_BUSY","class":"rate_limited","message":"The carrier is busy.","retry":{"kind":"retryable_after_ms","afterMs":5000},` +
	`"details":{"van":7},"domain":"candor","number":4098,"origin":{"by":"server","inferred":false},"ref":"r-9","severity":"high"}`

// TestClientReadsACodeOfALaterVersion decodes the error from a result and from a JSON-RPC error, over real transports.
func TestClientReadsACodeOfALaterVersion(t *testing.T) {
	handlers := map[string]mcp.ToolHandler{
		"result": func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "busy"}},
				Meta: mcp.Meta{dialect.MetaKey: json.RawMessage(laterEnvelope)}}, nil
		},
		"structured content": func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "busy"}},
				StructuredContent: json.RawMessage(laterEnvelope)}, nil
		},
		"error": func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, &jsonrpc.Error{Code: 4098, Message: "The carrier is busy.", Data: json.RawMessage(`{"dev.candor/error":` + laterEnvelope + `}`)}
		},
	}
	for path, connect := range clientPaths {
		for name, handle := range handlers {
			t.Run(path+" "+name, func(t *testing.T) {
				session := connect(t, toolServer("ship", nil, handle))
				e := client.Decode(session.CallTool(t.Context(), &mcp.CallToolParams{Name: "ship", Arguments: map[string]any{}}))
				if e == nil {
					t.Fatal("no error")
				}
				if e.Code() != candor.CodeRateLimited || e.Retry().AfterMs() != 5000 || e.Ref() != "r-9" || e.Message() != "The carrier is busy." ||
					e.Details().Get("van").String() != "7" || e.Details().Get("severity").String() != `"high"` ||
					e.Details().Get("said").Get("code").String() != `"CARRIER_BUSY"` || e.Origin().By != candor.PartyServer {
					raw, _ := e.MarshalJSON()
					t.Errorf("read %s", raw)
				}
			})
		}
	}
}

// TestAdviceOfAnUnknownClassIsNotFollowed checks that it becomes not_retryable, and is kept in details.
func TestAdviceOfAnUnknownClassIsNotFollowed(t *testing.T) {
	const envelope = `{"code":"ON_STRIKE","class":"on_strike","message":"m","retry":{"kind":"retryable_immediate"},"domain":"rail","number":7,"origin":{"by":"server","inferred":false}}`
	e := client.Decode(&mcp.CallToolResult{IsError: true, Content: []mcp.Content{}, Meta: mcp.Meta{dialect.MetaKey: json.RawMessage(envelope)}}, nil)
	if e == nil || e.Retry().Retryable() || e.Details().Get("said").Get("retry").String() != `"retryable_immediate"` {
		raw, _ := e.MarshalJSON()
		t.Errorf("%s", raw)
	}
}
