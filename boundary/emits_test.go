package boundary

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/testing/emits"
	"github.com/candor-mcp/candor/wire"
)

//go:embed testdata/emits.txt
var emitsText string

// emitsServer returns a server with a tool for each kind of failure.
func emitsServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "emits", Version: "1"}, nil)
	tool := func(name, output string, h mcp.ToolHandler) {
		t := &mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}
		if output != "" {
			t.OutputSchema = json.RawMessage(output)
		}
		s.AddTool(t, h)
	}
	tool("lies", `{"type":"object","required":["n"]}`, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{}, StructuredContent: map[string]any{"m": 1}}, nil
	})
	tool("garbles", "", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{StructuredContent: func() {}}, nil
	})
	tool("nothing", "", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil })
	tool("sleeps", "", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		select {} // ignores its context
	})
	return s
}

// emitsLines sends lines and returns the code of the first failure in the answers.
func emitsLines(t *testing.T, o Options, lines ...string) string {
	t.Helper()
	s := begin(t, emitsServer(), eras[0], o)
	go s.send(lines...)
	for {
		if code := codeIn([]byte(s.next())); code != "" {
			return code
		}
	}
}

// codeIn returns the code of the error in a message, or "".
func codeIn(message []byte) string {
	m := wire.Parse(message, wire.Limits{})
	own, ok := dialect.Embedded(m.Value())
	if !ok {
		return ""
	}
	e, err := dialect.ReadCandor(own)
	if err != nil {
		return err.Error()
	}
	return e.Code().String()
}

func emitsHTTP(t *testing.T, method string, header map[string]string) string {
	t.Helper()
	at := httptest.NewServer(Handler(emitsServer(), Options{}))
	defer at.Close()
	req, err := http.NewRequestWithContext(t.Context(), method, at.URL, strings.NewReader(goldenHello))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range header {
		req.Header.Set(name, value)
		if name == "Host" {
			req.Host = value
		}
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return codeIn(body)
}

func emitsCall(id int, tool string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, id, tool)
}

// TestEveryCodeOfTheBoundaryIsEmitted makes a server send each code of testdata/emits.txt over its transport. The catalogue marks a
// code as active only if it is in such a list, or if reading the answers of other servers can produce it.
func TestEveryCodeOfTheBoundaryIsEmitted(t *testing.T) {
	many := make([]string, maxInFlight+1)
	for i := range many {
		many[i] = emitsCall(i+1, "sleeps")
	}
	emit := map[string]func(t *testing.T) string{
		"candor/OUTPUT_INVALID":       func(t *testing.T) string { return emitsLines(t, Options{}, emitsCall(1, "lies")) },
		"candor/RESULT_NOT_ENCODABLE": func(t *testing.T) string { return emitsLines(t, Options{}, emitsCall(1, "garbles")) },
		"candor/EMPTY_RESULT":         func(t *testing.T) string { return emitsLines(t, Options{}, emitsCall(1, "nothing")) },
		"candor/DUPLICATE_REQUEST_ID": func(t *testing.T) string {
			return emitsLines(t, Options{}, emitsCall(1, "sleeps"), emitsCall(1, "sleeps"))
		},
		"candor/CALL_TIMEOUT": func(t *testing.T) string {
			return emitsLines(t, Options{Timeout: time.Millisecond}, emitsCall(1, "sleeps"))
		},
		"candor/TOO_MANY_CALLS": func(t *testing.T) string { return emitsLines(t, Options{}, many...) },
		"candor/HOST_REFUSED": func(t *testing.T) string {
			return emitsHTTP(t, http.MethodPost, map[string]string{"Host": "evil.example"})
		},
		"candor/ORIGIN_REFUSED": func(t *testing.T) string {
			return emitsHTTP(t, http.MethodPost, map[string]string{"Origin": "https://evil.example"})
		},
		"candor/METHOD_NOT_ALLOWED": func(t *testing.T) string { return emitsHTTP(t, http.MethodPut, nil) },
		"candor/MEDIA_TYPE_UNSUPPORTED": func(t *testing.T) string {
			return emitsHTTP(t, http.MethodPost, map[string]string{"Content-Type": "text/csv"})
		},
	}
	emits.Check(t, emitsText, emit)
}
