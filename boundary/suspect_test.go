package boundary

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestSuspectedFailuresAreRecordedOverHTTP calls a tool that reports a failure as a success, in an event and in plain JSON.
func TestSuspectedFailuresAreRecordedOverHTTP(t *testing.T) {
	const said = `{"success":false,"error":"connection refused"}`
	for name, plainJSON := range map[string]bool{"events": false, "JSON": true} {
		for _, on := range []bool{true, false} {
			server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
			server.AddTool(&mcp.Tool{Name: "masks", InputSchema: &jsonschema.Schema{Type: "object"}},
				func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return text(said), nil })
			trail := &fakeLedger{}
			b := Install(server, Options{Suspected: on, Ledger: trail, Logger: quiet})
			at := httptest.NewServer(b.HTTP(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
				&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: plainJSON})))
			body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"masks","arguments":{}}}`
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at.URL, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			at.Close()
			if err != nil || !strings.Contains(string(answer), "connection refused") || strings.Contains(string(answer), "isError") {
				t.Errorf("%s: answered %s, %v", name, answer, err)
			}
			entries := trail.all()
			if on && (len(entries) != 1 || entries[0].verdict != "masked" || entries[0].envelope != "") || !on && len(entries) != 0 {
				t.Errorf("%s, on %v: recorded %+v", name, on, entries)
			}
		}
	}
}
