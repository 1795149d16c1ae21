package boundary_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/internal/testing/testbinary"
)

// TestUncheckedArgumentsAreRefused checks that arguments which are too large or too complex to be validated are refused before the handler
// runs, and that a result is not withheld for the same reason: its call has taken effect.
func TestUncheckedArgumentsAreRefused(t *testing.T) {
	const (
		closed = `{"type":"object","properties":{"choice":{"enum":["yes","no"]},"list":{"items":{"pattern":"^[a-z]+$"}}},"additionalProperties":false}`
		unique = `{"type":"object","properties":{"list":{"uniqueItems":true,"items":{"type":"object"}}}}`
	)
	ran := 0
	server := mcp.NewServer(&mcp.Implementation{Name: "closed", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "closed", InputSchema: json.RawMessage(closed)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			ran++
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
		})
	var objects strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&objects, `{"id":%d,"name":"n","tags":["a","b"]},`, i)
	}
	server.AddTool(&mcp.Tool{Name: "unique", InputSchema: json.RawMessage(`{"type":"object"}`), OutputSchema: json.RawMessage(unique)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}},
				StructuredContent: json.RawMessage(`{"list":[` + objects.String() + `{}]}`)}, nil
		})
	c := talkTo(t, server, boundary.Options{})
	for name, arguments := range map[string]string{
		"objects": `{"choice":"maybe","junk":[` + strings.Repeat(`{},`, 59_995) + `{}]}`,
		"text":    `{"choice":"maybe","junk":"` + strings.Repeat("a", 8<<20) + `"}`,
		"items":   `{"choice":"maybe","list":[` + strings.Repeat(`"A",`, 150_000) + `""]}`,
		"number":  `{"choice":1e999999999,"junk":1}`,
	} {
		answer := string(c.ask("tools/call", `{"name":"closed","arguments":`+arguments+`}`))
		if ran > 0 || !strings.Contains(answer, `"code":"TOO_LARGE"`) || !strings.Contains(answer, `"rule":"too_complex"`) {
			t.Errorf("%s: ran %d times: %.500s", name, ran, answer)
		}
	}
	if answer := string(c.ask("tools/call", `{"name":"unique","arguments":{}}`)); strings.Contains(answer, `"isError":true`) {
		t.Errorf("a result that cannot be checked is withheld: %.300s", answer)
	}
}

// TestHugeFailureIsCutBeforeItIsRedacted measures the memory, because the time depends on the machine. To redact the
// whole takes 16 to 40 times its size; the SDK and encoding/json copy it several times.
func TestHugeFailureIsCutBeforeItIsRedacted(t *testing.T) {
	huge := strings.Repeat("a failure of the disk at 10.0.0.1: password=hunter2 ", 1<<19)
	small := []mcp.Content{&mcp.TextContent{Text: "a failure of the disk"}}
	failed := func(r mcp.CallToolResult) func() (*mcp.CallToolResult, error) {
		r.IsError = true
		return func() (*mcp.CallToolResult, error) { return &r, nil }
	}
	var many []mcp.Content
	for range 20 {
		many = append(many, &mcp.TextContent{Text: huge[:1<<20]})
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "huge", Version: "1"}, nil)
	tools := map[string]func() (*mcp.CallToolResult, error){
		"error": func() (*mcp.CallToolResult, error) { return nil, errors.New(huge) },
		"wrapped": func() (*mcp.CallToolResult, error) {
			return nil, fmt.Errorf("a failure of the disk, %s: %w", huge, context.DeadlineExceeded)
		},
		"JSON-RPC": func() (*mcp.CallToolResult, error) { return nil, &jsonrpc.Error{Code: 5, Message: huge} },
		"data": func() (*mcp.CallToolResult, error) {
			return nil, &jsonrpc.Error{Code: 5, Message: "a failure of the disk", Data: json.RawMessage(`"` + huge + `"`)}
		},
		"text":       failed(mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: huge}}}),
		"texts":      failed(mcp.CallToolResult{Content: many}),
		"resource":   failed(mcp.CallToolResult{Content: []mcp.Content{&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "a://b", Text: huge}}}}),
		"link":       failed(mcp.CallToolResult{Content: append(small[:1:1], &mcp.ResourceLink{URI: "a://b", Name: "b", Description: huge})}),
		"structured": failed(mcp.CallToolResult{Content: small, StructuredContent: json.RawMessage(`{"error":"` + huge + `"}`)}),
		"_meta":      failed(mcp.CallToolResult{Content: small, Meta: mcp.Meta{"note": huge}}),
	}
	for name, fail := range tools {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return fail() })
	}
	c := talkTo(t, server, boundary.Options{})
	most := uint64(12)
	if testbinary.Raced { // the race detector allocates, too
		most = 20
	}
	for name := range tools {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		answer := string(c.ask("tools/call", `{"name":"`+name+`","arguments":{}}`))
		runtime.ReadMemStats(&after)
		used := after.TotalAlloc - before.TotalAlloc
		if used > most*uint64(len(huge)) || len(answer) > 3<<20 || strings.Contains(answer, "hunter2") || !strings.Contains(answer, "disk") && name != "wrapped" {
			t.Errorf("%s: %d MiB allocated for %d MiB, %d bytes sent: %.300s", name, used>>20, len(huge)>>20, len(answer), answer)
		}
	}
}
