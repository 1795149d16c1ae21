package stdio

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
)

// shown returns the part of a failing answer that a client shows to a model: the first block of a result, or the message of an
// error.
func shown(t *testing.T, line string) string {
	t.Helper()
	var m struct {
		Result struct{ Content []struct{ Text string } }
		Error  struct{ Message string }
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	if len(m.Result.Content) > 0 {
		return m.Result.Content[0].Text
	}
	return m.Error.Message
}

// A list may be stale or omit tools, so the server decides whether the tool exists.
func TestToolThatTheListDoesNotNameIsForwarded(t *testing.T) {
	for _, mode := range gateway.Modes() {
		s := wrapped(t, gateway.Options{Mode: mode}, listChild(gatewaytest.ListsSome))
		s.greet()
		s.call(1, "hidden", `{}`)
		if got, want := s.answer("1"), `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}}`; got != want {
			t.Errorf("%s: client gets %s", mode, got)
		}
		s.hangUp()
		s.books.CheckTotals(t, 0)
	}
}

// A model sees the wrong name and similar names, however the server refuses the call.
func TestModelSeesTheNearestToolNames(t *testing.T) {
	t.Parallel()
	for _, mode := range []gateway.Mode{gateway.ModeAnnotate, gateway.ModeStrict} {
		for _, how := range []string{"error", "result", "method", "params"} {
			s := wrapped(t, gateway.Options{Mode: mode}, listChild(gatewaytest.ListsSome))
			s.greet()
			for _, c := range []struct{ name, want string }{
				{"raed_file", `Did you mean "read_file"?`},
				{"zzz", `"read_file", "search" or "write_file"`},
			} {
				s.call(1, c.name, `{"how":"`+how+`"}`)
				line := s.answer("1")
				if text := shown(t, line); gatewaytest.CodeOf(line) != "TOOL_NOT_FOUND" || !strings.Contains(text, c.name) || !strings.Contains(text, c.want) {
					t.Errorf("%s, %s: model sees %q of %s", mode, how, text, line)
				}
				if how == "error" && mode == gateway.ModeAnnotate && !strings.Contains(line, `"message":"Unknown tool: `+c.name) {
					t.Errorf("the server's words are gone: %s", line)
				}
			}
			s.hangUp()
			s.books.CheckTotals(t, 2)
		}
	}
}

// The name comes from the client. It may be long or contain a secret or control characters.
func TestNameOfAnUnknownToolIsCleanAndShort(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"https://bob:hunter2secret@host.example/mcp", "lookup?ak=hunter2secret", "GET https://h.example/v1?q=1&sig=hunter2secret",
		"x\x1b[31mred\u202e", strings.Repeat("long", 5000) + "hunter2secret",
	} {
		for _, how := range []string{"error", "result", "method"} {
			s := wrapped(t, gateway.Options{}, listChild(gatewaytest.ListsSome))
			s.greet()
			s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":` + jsonText(name) + `,"arguments":{"how":"` + how + `"}}}`)
			line := s.answer("1")
			if text := shown(t, line); gatewaytest.CodeOf(line) != "TOOL_NOT_FOUND" || strings.Contains(text, "\x1b") || strings.Contains(text, "\u202e") {
				t.Errorf("%s: %.300s", how, line)
			}
			if len(name) < 100 && (strings.Contains(line, "hunter2secret") || strings.Contains(s.log.String(), "hunter2secret")) {
				t.Errorf("%s: %.1000s\n%s", how, line, s.log)
			}
			if how == "method" && len(shown(t, line)) > 500 {
				t.Errorf("%d bytes for the model", len(shown(t, line)))
			}
			s.hangUp()
			s.books.CheckTotals(t, 1)
		}
	}
}
