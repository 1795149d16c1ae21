package telemetry_test

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/candor-mcp/candor"
	meterotel "github.com/candor-mcp/candor/adapters/otel"
	"github.com/candor-mcp/candor/boundary"
)

// refs is a ledger that keeps only the refs of its entries.
type refs struct{ of []string }

func (r *refs) RecordFailure(_ context.Context, f candor.Failure) error {
	r.of = append(r.of, f.Error.Ref())
	return nil
}

// A Go server passes a tracer to its boundary. docs/telemetry.md has these lines. A program uses the exporter of its collector where
// this example has a recorder.
func Example_server() {
	recorder, entries := tracetest.NewSpanRecorder(), &refs{}
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))

	server := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "read"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return nil, nil, candor.New(candor.CodeNotFound, "There is no note 7.")
	})
	boundary.Install(server, boundary.Options{Tracer: meterotel.NewTracer(provider), Ledger: entries})

	ctx := context.Background()
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(ctx, far, nil); err != nil {
		fmt.Println(err)
		return
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil).Connect(ctx, near, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close() //nolint:errcheck // in memory
	for _, tool := range []string{"read", "nosuch"} {
		_, _ = client.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: map[string]any{}}) // both calls fail
	}
	failed := 0
	for _, span := range recorder.Ended() {
		for _, a := range span.Attributes() {
			if a.Key == "candor.ref" {
				fmt.Println(span.Name(), a.Value.AsString() == entries.of[failed])
				failed++
			}
		}
	}
	// Output:
	// tools/call read true
	// tools/call true
}
