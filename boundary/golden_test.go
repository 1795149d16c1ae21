package boundary

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/schema"
)

var update = flag.Bool("update", false, "write the golden files")

type goldenIn struct {
	Path string `json:"path"`
}

type goldenOut struct {
	Lines int `json:"lines"`
}

// goldenServer returns a server with one tool for each format of failure on the wire.
func goldenServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "golden", Version: "1"}, nil)
	limited := candor.RetryableAfter(candor.CodeRateLimited, 2*time.Second, "The quota of this minute is used up.",
		candor.WithDetails(map[string]any{"limit": 60}))
	mcp.AddTool(s, &mcp.Tool{Name: "plain"}, func(context.Context, *mcp.CallToolRequest, goldenIn) (*mcp.CallToolResult, any, error) {
		return nil, nil, limited
	})
	mcp.AddTool(s, &mcp.Tool{Name: "promised"}, func(context.Context, *mcp.CallToolRequest, goldenIn) (*mcp.CallToolResult, goldenOut, error) {
		return nil, goldenOut{}, limited
	})
	mcp.AddTool(s, &mcp.Tool{Name: "panics"}, func(context.Context, *mcp.CallToolRequest, goldenIn) (*mcp.CallToolResult, any, error) {
		panic("nobody is to see this")
	})
	s.AddPrompt(&mcp.Prompt{Name: "broken"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return nil, errors.New("the template does not compile")
	})
	return s
}

var goldenCalls = []struct{ name, line string }{
	{"a tool without outputSchema", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"plain","arguments":{"path":"a"}}}`},
	{"a tool with outputSchema", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"promised","arguments":{"path":"a"}}}`},
	{"bad arguments", `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"plain","arguments":{"pth":7}}}`},
	{"a panic", `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"panics","arguments":{"path":"a"}}}`},
	{"an unknown tool", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"plian","arguments":{}}}`},
	{"an unknown method", `{"jsonrpc":"2.0","id":6,"method":"tools/lst"}`},
	{"a prompt that fails", `{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":"broken"}}`},
	{"no JSON", `hello world`},
}

const goldenHello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
	`"clientInfo":{"name":"golden","version":"1"}}}`

// goldenAnswers calls a server of one dialect over a stream and returns the answers in the order of the calls.
func goldenAnswers(t *testing.T, d dialect.Dialect) [][]byte {
	t.Helper()
	refs := 0
	server := goldenServer()
	b := Install(server, Options{
		Dialect: d,
		now:     func() time.Time { return time.Date(2026, 11, 15, 9, 30, 0, 0, time.UTC) },
		ref:     func() string { refs++; return fmt.Sprintf("ref-%d", refs) },
	})
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	go func() { _ = server.Run(t.Context(), b.Transport(fromClient, toClient)) }()
	t.Cleanup(func() { _ = toServer.Close() })
	lines := bufio.NewReaderSize(fromServer, 1<<20)
	ask := func(line string) []byte {
		if _, err := io.WriteString(toServer, line+"\n"); err != nil {
			t.Fatal(err)
		}
		answer, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		return bytes.TrimSpace(answer)
	}
	ask(goldenHello)
	var answers [][]byte
	for _, call := range goldenCalls {
		answers = append(answers, ask(call.line))
	}
	return answers
}

// TestAnswersOfEveryDialect checks the bytes of each kind of failure in each dialect.
func TestAnswersOfEveryDialect(t *testing.T) {
	for _, name := range dialect.Names() {
		t.Run(name, func(t *testing.T) {
			d, err := dialect.Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			for i, answer := range goldenAnswers(t, d) {
				fmt.Fprintf(&got, "# %s\n-> %s\n", goldenCalls[i].name, goldenCalls[i].line)
				got.WriteString("<- ")
				if err := json.Indent(&got, answer, "", "  "); err != nil {
					t.Fatal(err)
				}
				got.WriteString("\n\n")
			}
			file := filepath.Join("testdata", "answers", name+".txt")
			if *update {
				if err := os.WriteFile(file, got.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(want, got.Bytes()) {
				t.Errorf("%s: out of date (-update writes it)\n%s", file, firstDifference(string(want), got.String()))
			}
		})
	}
}

// firstDifference returns the first line in which two texts differ.
func firstDifference(want, got string) string {
	wants, gots := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(wants), len(gots)) {
		var w, g string
		if i < len(wants) {
			w = wants[i]
		}
		if i < len(gots) {
			g = gots[i]
		}
		if w != g {
			return fmt.Sprintf("line %d\n-want %s\n+got  %s", i+1, w, g)
		}
	}
	return ""
}

type goldenAnswer struct {
	Result *struct {
		Content           []struct{ Type, Text string }
		StructuredContent json.RawMessage
		IsError           bool
		Meta              map[string]json.RawMessage `json:"_meta"`
	}
	Error *struct {
		Code    int64
		Message string
		Data    json.RawMessage
	}
}

func goldenRead(t *testing.T, name string) []goldenAnswer {
	t.Helper()
	d, err := dialect.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	var out []goldenAnswer
	for _, raw := range goldenAnswers(t, d) {
		var a goldenAnswer
		if err := json.Unmarshal(raw, &a); err != nil {
			t.Fatal(err)
		}
		out = append(out, a)
	}
	return out
}

// TestAClientThatShowsOnlyTheFirstBlock checks that the first block contains the code, the failing fields, the retry advice, the
// suggestion and the ref.
func TestAClientThatShowsOnlyTheFirstBlock(t *testing.T) {
	answers := goldenRead(t, "candor")
	for i, want := range map[int][]string{
		0: {"RATE_LIMITED: The quota", "retry after 2000 ms", "Next: ", "Ref: ref-"},
		2: {"INVALID_ARGUMENTS", "/path", "missing", "/pth", `"path"`, "do not retry the same call", "Ref: ref-"},
		3: {"INTERNAL_ERROR", "do not retry", "Ref: ref-"},
	} {
		r := answers[i].Result
		if r == nil || !r.IsError || len(r.Content) == 0 {
			t.Fatalf("%s: %+v", goldenCalls[i].name, answers[i])
		}
		text := r.Content[0].Text
		if len(text) > 1024 {
			t.Errorf("%s: the first block has %d bytes", goldenCalls[i].name, len(text))
		}
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%s: the first block lacks %q:\n%s", goldenCalls[i].name, part, text)
			}
		}
		if strings.Contains(text, "nobody is to see this") {
			t.Errorf("the text of a panic is shown: %s", text)
		}
	}
}

// TestAClientThatValidatesStructuredContentOnErrors checks that structured content of errors always matches the tool's schema.
func TestAClientThatValidatesStructuredContentOnErrors(t *testing.T) {
	promise, err := schema.Compile([]byte(`{"type":"object","properties":{"lines":{"type":"integer"}},"required":["lines"],"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range dialect.Names() {
		answers := goldenRead(t, name)
		with, without := answers[1].Result, answers[0].Result
		if name == "rpc" {
			continue // its failures are JSON-RPC errors
		}
		if len(with.StructuredContent) > 0 && !promise.Explain(with.StructuredContent).OK() {
			t.Errorf("%s: an error of a tool with outputSchema breaks it: %s", name, with.StructuredContent)
		}
		if name == "candor" && len(without.StructuredContent) > 0 {
			t.Errorf("%s: the envelope is in structuredContent though Options.Mirror is not set", name)
		}
	}
}

// TestAClientThatReadsOnlyJSONRPCErrors checks that JSON-RPC errors have a number, a message and the envelope.
func TestAClientThatReadsOnlyJSONRPCErrors(t *testing.T) {
	for i, want := range map[int]struct {
		number int64
		code   string
	}{4: {-32602, "TOOL_NOT_FOUND"}, 5: {-32601, "METHOD_NOT_FOUND"}, 6: {-32603, "INTERNAL_ERROR"}, 7: {-32700, "PARSE_ERROR"}} {
		for _, name := range dialect.Names() {
			e := goldenRead(t, name)[i].Error
			if e == nil || e.Code != want.number || e.Message == "" {
				t.Errorf("%s, %s: %+v", name, goldenCalls[i].name, e)
				continue
			}
			var data map[string]struct{ Code, Ref string }
			_ = json.Unmarshal(e.Data, &data) // members of other types are ignored
			if got := data[dialect.MetaKey]; got.Code != want.code || got.Ref == "" {
				t.Errorf("%s, %s: data hold %+v, want %s", name, goldenCalls[i].name, got, want.code)
			}
		}
	}
}
