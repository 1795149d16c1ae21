package mcpgo_test

import (
	"context"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/adapters/mcpgo"
	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/codes/playwright"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// rows lists calls that mcp-go alone answers incorrectly or not at all.
var rows = []struct {
	name, message string
	code          candor.Code
	rpc           bool // the answer is a JSON-RPC error
}{
	{"a handler error", call(1, "plain", `{}`), candor.CodeInternalError, false},
	{"a typed error", call(1, "typed", `{}`), kaiza.FileNotFound, false},
	{"an error with a number", call(1, "coded", `{}`), playwright.Nav, false},
	{"a panic", call(1, "panics", `{}`), candor.CodeInternalError, false},
	{"no result", call(1, "empty", `{}`), candor.CodeEmptyResult, false},
	{"a deadline", call(1, "late", `{}`), candor.CodeTimeout, false},
	{"a result that is not JSON", call(1, "nan", `{}`), candor.CodeResultNotEncodable, false},
	{"a result that says isError", call(1, "reports", `{}`), candor.CodeNotFound, false},
	{"a broken promise", call(1, "liar", `{}`), candor.CodeOutputInvalid, false},
	{"bad arguments", call(1, "strict", `{"mode":"x"}`), candor.CodeInvalidArguments, false},
	{"an unknown tool", call(1, "nope", `{}`), candor.CodeToolNotFound, true},
	{"an unknown method", `{"jsonrpc":"2.0","id":1,"method":"foo/bar"}`, candor.CodeMethodNotFound, true},
	{"params of the wrong type", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}`, candor.CodeInvalidRequestParams, true},
	{"an unknown prompt", `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"zzz"}}`, candor.CodePromptNotFound, true},
	{"a prompt that panics", `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"explodes"}}`, candor.CodeInternalError, true},
	{"an unknown resource", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///x"}}`, candor.CodeResourceNotFound, true},
	{"no JSON", `hello world`, candor.CodeParseError, true},
	{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, candor.CodeBatchUnsupported, true},
}

func TestEveryFailureIsOneEnvelopeOneEntryOneCount(t *testing.T) {
	for name, connect := range paths() {
		t.Run(name, func(t *testing.T) {
			s, b := open(t, boundary.Options{})
			ask := connect(t, s)
			for i, row := range rows {
				t.Run(row.name, func(t *testing.T) {
					answer := ask(row.message)
					e := envelope(t, answer)
					if got, _ := e.Path("code").Str(); got != row.code.Symbol() {
						t.Fatalf("%s, want %s: %s", got, row.code, answer)
					}
					if ref, _ := e.Path("ref").Str(); len(ref) < 10 {
						t.Errorf("no ref: %s", answer)
					}
					m := wire.Parse([]byte(answer), wire.Limits{})
					if (m.Shape() == wire.KindError) != row.rpc {
						t.Errorf("on the wrong channel: %s", answer)
					}
					shown, _ := m.Error().Path("message").Str()
					text, _ := m.Result().Path("content", 0, "text").Str()
					for _, leak := range []string{"secret state", "json:", "mcp.", "goroutine"} {
						if strings.Contains(shown+text, leak) {
							t.Errorf("shows %q: %s", leak, answer)
						}
					}
					if m.ID().IsNull() {
						t.Errorf("the id is null: %s", answer)
					}
					if entries, counts, _ := b.totals(); entries != i+1 || counts != i+1 {
						t.Errorf("after %d failures there are %d entries and %d counts", i+1, entries, counts)
					}
					b.mu.Lock()
					defer b.mu.Unlock()
					if !row.rpc && !strings.Contains(answer, b.envelopes[len(b.envelopes)-1]) {
						t.Errorf("what was recorded is not what was sent:\n%s\n%s", b.envelopes[len(b.envelopes)-1], answer)
					}
				})
			}
		})
	}
}

func TestASuccessPassesAndIsNotCounted(t *testing.T) {
	for name, connect := range paths() {
		t.Run(name, func(t *testing.T) {
			s, b := open(t, boundary.Options{Successes: true})
			answer := connect(t, s)(call(9, "fine", `{}`))
			if !strings.Contains(answer, `"text":"ok"`) || strings.Contains(answer, "isError") {
				t.Errorf("%s", answer)
			}
			if entries, counts, _ := b.totals(); entries+counts != 0 || b.success != 1 {
				t.Errorf("%d entries, %d counts, %d successes", entries, counts, b.success)
			}
		})
	}
}

func TestTheCountsAreOfferedAndAnnounced(t *testing.T) {
	s, _ := open(t, boundary.Options{})
	ask := paths()["stdio"](t, s)
	ask(call(1, "plain", `{}`))
	if answer := ask(`{"jsonrpc":"2.0","id":2,"method":"sys/errorStats"}`); answer != `{"jsonrpc":"2.0","id":2,"result":{"total":1}}` {
		t.Errorf("%s", answer)
	}
	answer := ask(strings.Replace(hello, `"hello"`, "3", 1))
	m := wire.Parse([]byte(answer), wire.Limits{})
	if stats, _ := m.Result().Path("capabilities", "extensions", "dev.candor/errors", "stats").Str(); stats != "sys/errorStats" {
		t.Errorf("not announced: %s", answer)
	}
}

func TestEnvelopeOfAuthorKeepsItsCode(t *testing.T) {
	own := candor.New(candor.CodeConflict, "The page has changed.")
	inner := server.NewMCPServer("test", "1")
	inner.AddTool(mcp.NewTool("own"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{mcp.NewTextContent("mine")},
			Result: mcp.Result{Meta: &mcp.Meta{AdditionalFields: map[string]any{dialect.MetaKey: own}}}}, nil
	})
	b := &books{}
	answer := paths()["stdio"](t, mcpgo.Wrap(inner, boundary.Options{Ledger: b, Meter: b}))(call(1, "own", `{}`))
	if code, _ := envelope(t, answer).Path("code").Str(); code != own.Code().Symbol() || !strings.Contains(answer, own.Message()) {
		t.Errorf("%s", answer)
	}
	if entries, counts, _ := b.totals(); entries != 1 || counts != 1 {
		t.Errorf("%d entries, %d counts", entries, counts)
	}
}

func TestCancelledCallIsRecordedAndNotAnswered(t *testing.T) {
	began, b := make(chan struct{}), &books{quiet: make(chan struct{}, 1)}
	inner := demo()
	inner.AddTool(mcp.NewTool("waits"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		close(began)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	send, receive := stdio(t, mcpgo.Wrap(inner, boundary.Options{Ledger: b, Meter: b}))
	send(hello)
	receive()
	send(call(7, "waits", `{}`))
	<-began
	send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	send(call(8, "fine", `{}`))
	if answer := receive(); !strings.HasPrefix(answer, `{"jsonrpc":"2.0","id":8,`) {
		t.Errorf("%s", answer)
	}
	<-b.quiet
	if entries, counts, suppressed := b.totals(); entries != 1 || counts != 1 || suppressed != 1 {
		t.Errorf("%d entries, %d counts, %d suppressed", entries, counts, suppressed)
	}
}

func TestIDsComeBackAsTheyWereWritten(t *testing.T) {
	s, _ := open(t, boundary.Options{})
	ask := paths()["stdio"](t, s)
	for _, id := range []string{"9007199254740993", "1.5", `"a\u0062"`, "-0"} {
		answer := ask(strings.Replace(call(0, "plain", `{}`), `"id":0`, `"id":`+id, 1))
		if m := wire.Parse([]byte(answer), wire.Limits{}); string(m.ID()) != id {
			t.Errorf("%s came back as %s", id, m.ID())
		}
	}
}

func TestValidationOfMCPGoIsRecorded(t *testing.T) {
	b := &books{}
	inner := server.NewMCPServer("test", "1", server.WithInputSchemaValidation())
	inner.AddTool(mcp.NewToolWithRawSchema("strict", "", schema), tools()["fine"])
	s := mcpgo.Wrap(inner, boundary.Options{Ledger: b, Meter: b})
	answer := paths()["stdio"](t, s)(call(1, "strict", `{"mode":"x"}`))
	if !envelope(t, answer).Present() {
		t.Errorf("%s", answer)
	}
	if entries, counts, _ := b.totals(); entries != 1 || counts != 1 {
		t.Errorf("%d entries, %d counts", entries, counts)
	}
}
