// Package masked holds failures that handlers return as successes.
package masked

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type in struct{ Path string }

type out struct {
	OK    bool
	Text  string
	Error string
}

func text(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	data, err := os.ReadFile("a")
	if err != nil {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}}, nil // want `maskederror: the text of an error is returned as a success, so the client believes the call worked; return the error instead of a result, such as candor.From\(err\) \(docs/vet.md\)`
	}
	if len(data) == 0 {
		return &mcp.CallToolResult{ // want `maskederror: a text that describes a failure`
			Content: []mcp.Content{&mcp.TextContent{Text: "Error: the file is empty"}},
		}, nil
	}
	if _, err := os.Stat("b"); err != nil {
		return &mcp.CallToolResult{IsError: false, Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf("cannot see b: %v", err)}}}, nil // want `maskederror`
	}
	if _, err := os.Stat("c"); err != nil {
		res := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}}
		return res, nil // want `maskederror`
	}
	if _, err := os.Stat("d"); err != nil {
		return say("failed to see d: " + err.Error()), nil // want `maskederror`
	}
	return say(string(data)), nil
}

func objects(ctx context.Context, req *mcp.CallToolRequest, args in) (*mcp.CallToolResult, map[string]any, error) {
	if args.Path == "" {
		return nil, map[string]any{"ok": false, "error": "no path"}, nil // want `maskederror: an object that describes a failure`
	}
	if _, err := os.Stat(args.Path); err != nil {
		return nil, map[string]any{"error": err.Error()}, nil // want `maskederror`
	}
	return nil, map[string]any{"ok": true, "error": ""}, nil
}

func structs(ctx context.Context, req *mcp.CallToolRequest, args in) (*mcp.CallToolResult, out, error) {
	if _, err := os.Stat(args.Path); err != nil {
		return nil, out{Error: err.Error()}, nil // want `maskederror`
	}
	if args.Path == "/" {
		return nil, out{OK: false, Error: "not the root"}, nil // want `maskederror`
	}
	return nil, out{OK: true}, nil
}

// kept is a local that only the result reads: without it the code would not compile, so there is no fix.
func kept(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if _, err := os.Stat("a"); err != nil {
		words := "it went wrong: " + err.Error()
		return say(words), nil // want `maskederror`
	}
	return nil, nil
}

func say(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

func complain(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

// What follows is as it should be.

func fine(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	_, err := os.Stat("a")
	if err != nil {
		return complain(err.Error()), nil
	}
	if _, err := os.Stat("b"); err != nil {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}}, nil
	}
	if _, err := os.Stat("c"); err != nil {
		res := say(err.Error())
		res.IsError = true
		return res, nil
	}
	if _, err := os.Stat("d"); err != nil {
		var res mcp.CallToolResult
		res.SetError(err)
		return &res, nil
	}
	if _, err := os.Stat("e"); errors.Is(err, fs.ErrNotExist) {
		return say("there is no e, which is an answer too"), nil
	}
	return say("Errors are explained in chapter 3; failed attempts are not."), nil
}

func listed(ctx context.Context, req *mcp.CallToolRequest, args in) (*mcp.CallToolResult, map[string]any, error) {
	var failed []string
	for _, name := range []string{"a", "b"} {
		if _, err := os.Stat(name); err != nil {
			failed = append(failed, err.Error())
		}
	}
	return nil, map[string]any{"ok": len(failed) == 0, "error": nil, "failed": failed}, nil
}

// both tells the client in the result, and says more in the object.
func both(ctx context.Context, req *mcp.CallToolRequest, args in) (*mcp.CallToolResult, out, error) {
	if _, err := os.Stat(args.Path); err != nil {
		more := out{Error: err.Error()}
		return complain(more.Error), more, nil
	}
	if _, err := os.Stat(args.Path); err != nil {
		return &mcp.CallToolResult{IsError: true}, out{Error: err.Error()}, nil
	}
	return nil, out{OK: true}, nil
}

// A helper may make all three results of a handler.

func ok3(s string) (*mcp.CallToolResult, any, error) { return say(s), nil, nil }

func failed3(s string) (*mcp.CallToolResult, any, error) { return complain(s), nil, nil }

func maybe3(s string) (*mcp.CallToolResult, any, error) {
	if s == "" {
		return nil, nil, errors.New("empty")
	}
	return say(s), nil, nil
}

func helped(ctx context.Context, req *mcp.CallToolRequest, args in) (*mcp.CallToolResult, any, error) {
	data, err := os.ReadFile(args.Path)
	if err != nil {
		return ok3("Error: " + err.Error()) // want `maskederror: the text of an error is returned as a success`
	}
	if len(data) == 0 {
		return ok3("Error: the file is empty") // want `maskederror: a text that describes a failure`
	}
	if _, err := os.Stat("b"); err != nil {
		return failed3("Error: " + err.Error())
	}
	return ok3(string(data))
}

func helpedTwo(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if _, err := os.Stat("a"); err != nil {
		return ok2("failed: " + err.Error()) // want `maskederror`
	}
	return ok2("fine")
}

func ok2(s string) (*mcp.CallToolResult, error) { return say(s), nil }
