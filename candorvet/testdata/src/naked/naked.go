// Package naked has failures that are returned as successes by return statements without results, and inside encoded JSON.
package naked

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func hidden(ctx context.Context, req *mcp.CallToolRequest) (res *mcp.CallToolResult, err error) {
	if _, e := os.Stat("a"); e != nil {
		return // want `swallowed: there is an error here, and the function returns success`
	}
	if _, e := os.Stat("b"); e != nil {
		log.Print(e)
		return // want `swallowed`
	}
	_, err = os.Stat("c")
	if err != nil {
		return
	}
	if _, e := os.Stat("d"); e != nil {
		return // want `swallowed`
	}
	if _, e := os.Stat("e"); e != nil {
		err = errors.Join(e)
		return
	}
	return
}

func text(ctx context.Context, req *mcp.CallToolRequest) (res *mcp.CallToolResult, err error) {
	if _, e := os.Stat("a"); e != nil {
		res = &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: e.Error()}}}
		return // want `maskederror: the text of an error`
	}
	res = &mcp.CallToolResult{}
	return
}

func marked(ctx context.Context, req *mcp.CallToolRequest) (res *mcp.CallToolResult, err error) {
	if _, e := os.Stat("a"); e != nil {
		res = &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: e.Error()}}}
		res.IsError = true
		return
	}
	return
}

func deferred(ctx context.Context, req *mcp.CallToolRequest) (res *mcp.CallToolResult, err error) {
	var failure error
	defer func() { err = failure }()
	if _, failure = os.Stat("a"); failure != nil {
		return
	}
	return
}

func encoded(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if _, err := os.Stat("a"); err != nil {
		b, _ := json.Marshal(map[string]any{"error": err.Error()})                                 //candor:allow swallowed a map of texts can be encoded
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(b)}}}, nil // want `maskederror`
	}
	if _, err := os.Stat("b"); err != nil {
		m := map[string]any{"status": "bad"}
		m["error"] = err.Error()
		b, _ := json.MarshalIndent(m, "", " ")                                                     //candor:allow swallowed a map of texts can be encoded
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(b)}}}, nil // want `maskederror`
	}
	b, err := json.Marshal(map[string]any{"status": "fine"})
	if err != nil {
		return nil, err // want `rawerror`
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(b)}}}, nil
}

func entries(ctx context.Context, req *mcp.CallToolRequest, args struct{}) (*mcp.CallToolResult, any, error) {
	out := map[string]any{}
	if _, err := os.Stat("a"); err != nil {
		out["error"] = err.Error()
		return nil, out, nil // want `maskederror`
	}
	out["path"] = "a"
	return nil, out, nil
}
