package stdio

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/dialect"
)

// sdkEnv makes the test binary a server built with the official SDK.
const sdkEnv = "CANDOR_TEST_SDK"

type greetIn struct {
	Name string `json:"name" jsonschema:"whom to greet"`
}

func sdkMain() int {
	server := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, nil)
	say := func(text string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
	}
	mcp.AddTool(server, &mcp.Tool{Name: "greet"}, func(_ context.Context, _ *mcp.CallToolRequest, in greetIn) (*mcp.CallToolResult, any, error) {
		if in.Name == "nobody" {
			return nil, nil, errors.New("there is nobody to greet")
		}
		return say("hello " + in.Name), nil, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "ask"}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		got, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "go on?"})
		if err != nil {
			return nil, nil, err
		}
		return say(got.Action), nil, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "work"}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		for i := range 3 {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i)})
		}
		return say("worked"), nil, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "die"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		panic("a panic in a handler ends the process")
	})
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// An official client and an official server work unchanged through the gateway, except that failures carry more data and a server
// that ends is restarted.
func TestOfficialPeersWorkThroughTheGateway(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			progress := make(chan float64, 10)
			client := sdkClient(t, version, progress)
			call := func(tool string, arguments any, token string) (text string, failed bool, code string) {
				t.Helper()
				params := &mcp.CallToolParams{Name: tool, Arguments: arguments}
				if token != "" {
					params.SetProgressToken(token)
				}
				got, err := client.CallTool(t.Context(), params)
				if err != nil {
					t.Fatalf("%s: %v", tool, err)
				}
				if e, ok := got.Meta[dialect.MetaKey].(map[string]any); ok {
					code, _ = e["code"].(string)
				}
				first, ok := got.Content[0].(*mcp.TextContent)
				if !ok {
					t.Fatalf("%s: %T", tool, got.Content[0])
				}
				return first.Text, got.IsError, code
			}
			if text, _, _ := call("greet", greetIn{"you"}, ""); text != "hello you" {
				t.Error(text)
			}
			if _, failed, code := call("greet", greetIn{"nobody"}, ""); !failed || code == "" {
				t.Errorf("failed %v, code %q", failed, code)
			}
			if text, failed, code := call("greet", map[string]any{"called": "you"}, ""); !failed || code != "INVALID_ARGUMENTS" || !strings.Contains(text, "name") {
				t.Errorf("%s, code %q", text, code)
			}
			if text, _, _ := call("work", nil, "t"); text != "worked" || <-progress != 0 || <-progress != 1 || <-progress != 2 {
				t.Error(text)
			}
			if version < "2026" { // later versions use another mechanism for requests from the server
				if text, _, _ := call("ask", nil, ""); text != "accept" {
					t.Error(text)
				}
			}
			if text, failed, code := call("die", nil, ""); !failed || code != "UPSTREAM_GONE" {
				t.Errorf("%s, code %q", text, code)
			}
			if text, _, _ := call("greet", greetIn{"again"}, ""); text != "hello again" {
				t.Error(text)
			}
		})
	}
}

// sdkClient connects an official client to a wrapped official server.
func sdkClient(t *testing.T, version string, progress chan<- float64) *mcp.ClientSession {
	t.Helper()
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	child := Child{
		Command: os.Args[0], Env: append(os.Environ(), sdkEnv+"=1", "GORACE=atexit_sleep_ms=0"), Guard: []string{os.Args[0], "guard"},
		Restart: RestartPolicy{Tries: 3, Wait: time.Millisecond},
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = Wrap(t.Context(), gateway.New(gateway.Options{}), Streams{In: inR, Out: outW}, child)
		_ = outW.Close()
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept"}, nil
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			progress <- r.Params.Progress
		},
	})
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: outR, Writer: inW}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		_ = inW.Close()
		<-ended
		_ = inR.Close()
	})
	return session
}
