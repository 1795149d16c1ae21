package candortest_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/candortest"
	"github.com/candor-mcp/candor/serve"
	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serverVariable makes the test binary a server: the official Go SDK as it comes, with nothing of ours in it.
const serverVariable = "CANDORTEST_SERVER"

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
	case "hang":
		time.Sleep(time.Hour)
	case "parent":
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), serverVariable+"=hang")
		child.ExtraFiles = []*os.File{os.NewFile(3, "held")}
		_ = child.Start()
		fmt.Fprintln(os.Stderr, "started a child, password=hunter2hunter2")
		_ = os.Stdout.Close() // nobody has to wait for an answer
		time.Sleep(time.Hour)
	case "flood":
		for {
			fmt.Println(strings.Repeat("x", 1<<16))
		}
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
		return nil, letters[len(letters)-1], nil // a real mistake, as people make them: nobody gave a reason
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

// serveHTTP says where it listens, and serves until it is killed.
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

// bareFindings is what the kit finds wrong with the official Go SDK as it comes, version 1.8.0: the evidence that the kit
// finds real faults, and the list of what a boundary has to mend.
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
			options := append(everything(), candortest.WithLevel(candortest.Manners), candortest.WithOversize(17<<20), candortest.WithEra(candortest.Era(era)),
				candortest.WithTimeout(3*time.Second), candortest.WithSettle(200*time.Millisecond))
			findings, err := candortest.Check(t.Context(), tr, options...)
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
