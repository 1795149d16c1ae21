package boundary

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
)

// unwritable lists results of tools whose encoding clients cannot read.
var unwritable = map[string]struct {
	result *mcp.CallToolResult
	err    error
	want   candor.Code
}{
	"data that is no JSON": {err: &jsonrpc.Error{Code: 2100, Message: "Navigation failed", Data: json.RawMessage(`{bad`)}},
	"data that is no UTF-8": {err: &jsonrpc.Error{Code: 2100, Message: "Navigation failed",
		Data: json.RawMessage("{\"a\":\"\xff\"}")}},
	"content that is no UTF-8": {result: &mcp.CallToolResult{StructuredContent: json.RawMessage("{\"a\":\"\xff\"}")},
		want: candor.CodeResultNotEncodable},
	"a block that is nothing": {result: &mcp.CallToolResult{Content: []mcp.Content{nil}}, want: candor.CodeResultNotEncodable},
}

func TestUnreadableResultIsNotSent(t *testing.T) {
	for name, row := range unwritable {
		t.Run(name, func(t *testing.T) {
			server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
			server.AddTool(&mcp.Tool{Name: "t", InputSchema: &jsonschema.Schema{Type: "object"}},
				func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return row.result, row.err })
			got := converse(t, server, Options{Logger: quiet}).talk(eras[0], false,
				`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`)
			answer := got.at("1")
			if !json.Valid(answer.Bytes()) {
				t.Fatalf("answered %s", answer.Bytes())
			}
			if row.err != nil {
				number, _ := answer.Error().Path("code").Int64()
				ref, _ := answer.Error().Path("data", "dev.candor/error", "ref").Str()
				if number != 2100 || ref == "" {
					t.Errorf("answered %s", answer.Bytes())
				}
				return
			}
			if e, _ := envelope(t, answer); e.Code() != row.want {
				t.Errorf("answered %s", answer.Bytes())
			}
		})
	}
}

func TestUnencodableCompletionIsAnswered(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, &mcp.ServerOptions{
		CompletionHandler: func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Meta: mcp.Meta{"x": unpaged{}}}, nil
		}})
	got := converse(t, server, Options{Logger: quiet}).talk(eras[0], false,
		`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"b"}}}`)
	answer := got.at("1")
	if code, _ := answer.Error().Path("data", "dev.candor/error", "code").Str(); code != "RESULT_NOT_ENCODABLE" {
		t.Errorf("answered %s", answer.Bytes())
	}
}
