package httpgatetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
)

// SDKServer returns a server of the official SDK that sends requests to its client, reports progress and fails. Its tool "hang" sends
// a value when it begins and another when it is cancelled.
func SDKServer(hangs chan<- struct{}) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "up", Version: "1"}, nil)
	none := map[string]any{"type": "object"}
	tool := func(name string, run func(context.Context, *mcp.CallToolRequest) (string, error)) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: none}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			text, err := run(ctx, r)
			if err != nil {
				return nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
		})
	}
	tool("sample", func(ctx context.Context, r *mcp.CallToolRequest) (string, error) {
		got, err := r.Session.CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 1,
			Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "q"}}}})
		if err != nil {
			return "", err
		}
		return got.Model, nil
	})
	tool("elicit", func(ctx context.Context, r *mcp.CallToolRequest) (string, error) {
		got, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "sure?", RequestedSchema: none})
		if err != nil {
			return "", err
		}
		return got.Action, nil
	})
	tool("progress", func(ctx context.Context, r *mcp.CallToolRequest) (string, error) {
		for i := range 4 {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1)})
		}
		return "done", nil
	})
	tool("fail", func(context.Context, *mcp.CallToolRequest) (string, error) { return "", errors.New("disk on fire") })
	tool("hang", func(ctx context.Context, _ *mcp.CallToolRequest) (string, error) {
		hangs <- struct{}{}
		<-ctx.Done()
		hangs <- struct{}{}
		return "", ctx.Err()
	})
	return s
}

// Report returns what a client of the official SDK receives from a server, as comparable texts.
func Report(t *testing.T, url, version string, hangs <-chan struct{}) []string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), gatewaytest.TooLong)
	defer stop()
	progress := make(chan float64, 10)
	c := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, &mcp.ClientOptions{
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Model: "m1", Role: "assistant", Content: &mcp.TextContent{Text: "a"}}, nil
		},
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{}}, nil
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { progress <- r.Params.Progress },
	})
	s, err := c.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	var seen []string
	see := func(what string, args ...any) { seen = append(seen, fmt.Sprintf(what, args...)) }
	tools, err := s.ListTools(ctx, nil)
	see("tools %v %v", err, tools != nil && len(tools.Tools) == 5)
	for _, name := range []string{"sample", "elicit", "progress"} {
		p := &mcp.CallToolParams{Name: name, Arguments: map[string]any{}}
		p.SetProgressToken("p-" + name)
		got, err := s.CallTool(ctx, p)
		if err != nil {
			see("%s fails", name)
			continue
		}
		text, _ := got.Content[0].(*mcp.TextContent)
		see("%s %v", name, text.Text)
	}
	for range 4 {
		see("progress %v", <-progress)
	}
	_, err = s.CallTool(ctx, &mcp.CallToolParams{Name: "fail", Arguments: map[string]any{}})
	see("fail %v", err != nil)
	_, err = s.ReadResource(ctx, &mcp.ReadResourceParams{URI: "file:///none"})
	see("resource %v", err != nil)
	within, giveUp := context.WithCancel(ctx)
	go func() { <-hangs; giveUp() }()
	_, err = s.CallTool(within, &mcp.CallToolParams{Name: "hang", Arguments: map[string]any{}})
	see("hang %v", errors.Is(err, context.Canceled))
	select {
	case <-hangs:
		see("the server was told")
	case <-ctx.Done():
		see("the server was not told")
	}
	_, err = s.ListTools(ctx, nil)
	see("and still %v", err)
	return seen
}
