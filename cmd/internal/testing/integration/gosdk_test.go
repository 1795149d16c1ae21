package integration_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/candortest"
	"github.com/candor-mcp/candor/serve"
	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serverVariable makes the test binary a server: bare, with the official Go SDK alone, or with package serve.
const serverVariable = "INTEGRATION_SERVER"

func TestMain(m *testing.M) {
	switch os.Getenv(serverVariable) {
	case "":
		os.Exit(m.Run())
	case "stdio":
		_ = bareServer().Run(context.Background(), &mcp.StdioTransport{})
	case "http", "http-stateless":
		serveHTTP(os.Getenv(serverVariable) == "http-stateless")
	case "serve":
		_ = serve.Stdio(context.Background(), bareServer(), serve.Config{})
	}
}

type sum struct {
	Left  int `json:"left"`
	Right int `json:"right"`
}

type reason struct {
	Reason string `json:"reason,omitempty"`
}

func bareServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "add", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *mcp.CallToolRequest, in sum) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(in.Left + in.Right)}}}, nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "fail"}, func(context.Context, *mcp.CallToolRequest, reason) (*mcp.CallToolResult, any, error) {
		return nil, nil, errors.New("the printer is out of paper")
	})
	mcp.AddTool(s, &mcp.Tool{Name: "crash"}, func(_ context.Context, _ *mcp.CallToolRequest, in reason) (*mcp.CallToolResult, any, error) {
		letters := strings.Split(in.Reason, "")
		return nil, letters[len(letters)-1], nil // a common mistake: the reason may be empty
	})
	mcp.AddTool(s, &mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ reason) (*mcp.CallToolResult, any, error) {
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Second):
		}
		return nil, nil, ctx.Err()
	})
	s.AddPrompt(&mcp.Prompt{Name: "greet"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{}, nil
	})
	s.AddResource(&mcp.Resource{Name: "note", URI: "note://1"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{}, nil
	})
	return s
}

// serveHTTP prints its address and serves until it is killed.
func serveHTTP(stateless bool) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		os.Exit(1)
	}
	s := bareServer()
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: stateless})
	fmt.Println("http://" + listener.Addr().String())
	_ = http.Serve(listener, handler)
}

func asServer(t *testing.T, kind string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), serverVariable+"="+kind, "GORACE=atexit_sleep_ms=0") // the race detector sleeps before it exits
	return cmd
}

// bareHTTP starts the bare server for every connection, because some checks kill it.
func bareHTTP(t *testing.T, kind string) candortest.Transport {
	return candortest.HTTPFunc(func() (string, func(), error) {
		cmd := asServer(t, kind)
		out, err := cmd.StdoutPipe()
		if err != nil {
			return "", nil, err
		}
		if err := cmd.Start(); err != nil {
			return "", nil, err
		}
		url, err := bufio.NewReader(out).ReadString('\n')
		return strings.TrimSpace(url), func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }, err
	})
}

// bareColumns are the ways in which the bare server is run, in the order of the table in the documentation.
var bareColumns = []string{"stdio 2025-11-25", "stdio 2026-07-28", "http 2025-11-25", "http-stateless 2025-11-25", "http-stateless 2026-07-28"}

// bareFindings are the failed checks of the official Go SDK, version 1.8.0, without a boundary. They show that the kit finds
// real faults, and list the faults that a boundary must correct.
var bareFindings = map[string][]string{
	"stdio 2025-11-25": {"parse-error", "truncated-message", "not-an-object", "batch", "jsonrpc-version", "method-type", "id-type", "deep-nesting",
		"byte-order-mark", "two-on-a-line", "oversize", "id-large-integer", "id-fractional", "duplicate-id", "all-violations", "cancelled-silent",
		"panic-survived", "error-code-allowed", "no-type-name"},
	"stdio 2026-07-28": {"parse-error", "truncated-message", "not-an-object", "batch", "jsonrpc-version", "method-type", "id-type", "deep-nesting",
		"byte-order-mark", "two-on-a-line", "oversize", "id-large-integer", "id-fractional", "duplicate-id", "all-violations", "cancelled-silent",
		"panic-survived", "no-type-name"},
	"http 2025-11-25": {"id-large-integer", "id-fractional", "unknown-method", "params-missing", "all-violations", "panic-survived",
		"error-code-allowed", "no-type-name", "http-rejection-body", "http-origin"},
	"http-stateless 2025-11-25": {"id-large-integer", "id-fractional", "unknown-method", "params-missing", "all-violations", "panic-survived",
		"no-type-name", "http-rejection-body", "http-origin"},
	"http-stateless 2026-07-28": {"method-type", "id-large-integer", "id-fractional", "params-missing", "all-violations", "panic-survived",
		"no-type-name", "http-rejection-body", "http-origin"},
}

func TestBareGoSDKHasExactlyTheseFaults(t *testing.T) {
	columns := bareColumns
	if testing.Short() { // processes that look for races are slow to start
		columns = []string{bareColumns[0], bareColumns[len(bareColumns)-1]}
	}
	for _, column := range columns {
		t.Run(column, func(t *testing.T) {
			t.Parallel()
			kind, era, _ := strings.Cut(column, " ")
			tr := bareHTTP(t, kind)
			if kind == "stdio" {
				tr = candortest.StdioFunc(func() *exec.Cmd { return asServer(t, kind) })
			}
			findings, err := candortest.Check(t.Context(), tr,
				candortest.Options{
					Tools:     []candortest.Call{{Tool: "add", Arguments: `{"left":1,"right":2}`}},
					Failing:   []candortest.Call{{Tool: "fail", Arguments: `{"reason":"because"}`}},
					Panicking: candortest.Call{Tool: "crash"}, Slow: candortest.Call{Tool: "wait"},
					Eras: []string{string(era)}, Timeout: 3 * time.Second,
				})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range findings {
				if f.Problem != "" {
					got = append(got, f.Rule.ID)
					t.Log(f)
				}
			}
			if diff := cmp.Diff(bareFindings[column], got); diff != "" {
				t.Errorf("the findings have changed (-want +got):\n%s", diff)
			}
		})
	}
}

var update = flag.Bool("update", false, "write the generated table of the documentation")

// TestDocumentationListsFaultsOfBareGoSDK compares the table of evidence in docs/candortest.md with bareFindings.
func TestDocumentationListsFaultsOfBareGoSDK(t *testing.T) {
	path := filepath.Join("..", "..", "..", "..", "docs", "candortest.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), "<!-- evidence: ")
	mark, rest, okMark := strings.Cut(rest, "\n")
	_, after, okEnd := strings.Cut(rest, "<!-- end of evidence -->")
	if !ok || !okMark || !okEnd {
		t.Fatal("docs/candortest.md: marks of the table of evidence not found")
	}
	want := before + "<!-- evidence: " + mark + "\n" + evidenceTable() + "<!-- end of evidence -->" + after
	if want == string(page) {
		return
	}
	if !*update {
		t.Fatalf("%s is not up to date: run go test ./cmd/internal/testing/integration -run Documentation -update", path)
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func evidenceTable() string {
	var b strings.Builder
	b.WriteString("| check | " + strings.Join(bareColumns, " | ") + " |\n|---|" + strings.Repeat("---|", len(bareColumns)) + "\n")
	for _, r := range candortest.Checks() {
		cells, found := make([]string, len(bareColumns)), false
		for i, column := range bareColumns {
			cells[i] = "·"
			if slices.Contains(bareFindings[column], r.ID) {
				cells[i], found = "✗", true
			}
		}
		if found {
			fmt.Fprintf(&b, "| `%s` | %s |\n", r.ID, strings.Join(cells, " | "))
		}
	}
	return b.String()
}
