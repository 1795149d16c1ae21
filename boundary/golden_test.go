package boundary

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
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
	s := begin(t, goldenServer(), eras[0], Options{
		Dialect: d,
		now:     func() time.Time { return time.Date(2026, 11, 15, 9, 30, 0, 0, time.UTC) },
		ref:     func() string { refs++; return fmt.Sprintf("ref-%d", refs) },
	})
	var answers [][]byte
	for _, call := range goldenCalls {
		s.send(call.line)
		answers = append(answers, []byte(s.next()))
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
