package boundary_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/testing/wait"
	"github.com/candor-mcp/candor/meter"
)

// TestAServerHasOneBoundary installs a boundary twice, like a program that serves one server in two ways. Each failure must be
// counted once.
func TestAServerHasOneBoundary(t *testing.T) {
	counts := newMeter(t, meter.Options{})
	server := mixedServer()
	server.AddPrompt(&mcp.Prompt{Name: "broken"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return nil, errors.New("no template")
	})
	first := boundary.Install(server, boundary.Options{Meter: counts})
	var said strings.Builder
	again := boundary.Install(server, boundary.Options{Meter: counts, Logger: slog.New(slog.NewTextHandler(&said, nil))})
	if again != first || !strings.Contains(said.String(), "options of this one are not used") {
		t.Errorf("a second boundary was installed, or the log does not say that its options are not used: %q", &said)
	}
	boundary.New(boundary.Options{Meter: counts}).Install(server)
	c := talkTo(t, server, boundary.Options{Meter: counts})
	calls := []struct{ method, params string }{
		{"prompts/get", `{"name":"broken"}`}, {"prompts/get", `{"name":"none"}`}, {"tools/call", `{"name":"nobody"}`},
		{"resources/read", `{"uri":"file:///missing"}`}, {"resources/read", `{"uri":"file:///there"}`}, {"no/such", `{}`},
		{"tools/call", `{"name":"act","arguments":{"how":"error"}}`},
	}
	for i, call := range calls {
		c.ask(call.method, call.params)
		if got := counts.Stats().Total; got != uint64(i+1) {
			t.Fatalf("%s %s: %d failures are counted after %d", call.method, call.params, got, i+1)
		}
	}
}

// TestAReplacedToolIsCheckedAgainstItsNewSchema replaces a tool while the server cannot notify a session.
func TestAReplacedToolIsCheckedAgainstItsNewSchema(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "replaced", Version: "1"}, nil)
	add := func(schema string) {
		server.AddTool(&mcp.Tool{Name: "t", InputSchema: json.RawMessage(schema)},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{}, nil
			})
	}
	add(`{"type":"object"}`)
	call := stateless(t, server)
	if answer := call("t"); strings.Contains(answer, "isError\":true") {
		t.Fatal(answer)
	}
	add(`{"type":"object","required":["zzz"]}`)
	wait.Until(t, "the new schema, because a list is cached for a second", func() bool { return strings.Contains(call("t"), "INVALID_ARGUMENTS") })
}

// stateless returns a function that calls a tool in the era without sessions, through the middleware only.
func stateless(t *testing.T, server *mcp.Server) func(tool string) string {
	t.Helper()
	boundary.Install(server, boundary.Options{})
	return func(tool string) string {
		here, there := mcp.NewInMemoryTransports()
		if _, err := server.Connect(t.Context(), here, nil); err != nil {
			t.Fatal(err)
		}
		session, err := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil).Connect(t.Context(), there, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = session.Close() }()
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: map[string]any{}})
		if err != nil {
			return err.Error()
		}
		raw, err := json.Marshal(result)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
}

// TestDeadlinesHoldForPromptsToo gets a prompt with a handler that does not return.
func TestDeadlinesHoldForPromptsToo(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "hangs", Version: "1"}, nil)
	server.AddPrompt(&mcp.Prompt{Name: "hang"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) { select {} })
	answer := string(talkTo(t, server, boundary.Options{Timeout: time.Millisecond}).ask("prompts/get", `{"name":"hang"}`))
	if !strings.Contains(answer, `"CALL_TIMEOUT"`) {
		t.Errorf("it is told as %s", answer)
	}
}

// TestAnEnvelopeInASuccessIsAFailure calls a tool that attaches an error without isError.
func TestAnEnvelopeInASuccessIsAFailure(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "forgets", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "forget", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Meta: mcp.Meta{dialect.MetaKey: candor.New(candor.CodeNotFound, "")}, Content: []mcp.Content{}}, nil
		})
	counts := newMeter(t, meter.Options{})
	answer := string(talkTo(t, server, boundary.Options{Meter: counts}).ask("tools/call", `{"name":"forget","arguments":{}}`))
	if !strings.Contains(answer, `"isError":true`) || !strings.Contains(answer, `"NOT_FOUND"`) || counts.Stats().Total != 1 {
		t.Errorf("it is told as %s, %d counted", answer, counts.Stats().Total)
	}
}

// TestNumberOfAuthorIsKept checks that a JSON-RPC error of an author keeps its number, even if its text resembles an
// error of a client.
func TestNumberOfAuthorIsKept(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "words", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "words", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, &jsonrpc.Error{Code: 2100, Message: `failed calling "api"`}
		})
	answer := string(talkTo(t, server, boundary.Options{}).ask("tools/call", `{"name":"words","arguments":{}}`))
	if !strings.Contains(answer, `"error":{"code":2100`) {
		t.Errorf("it left as %s", answer)
	}
}
