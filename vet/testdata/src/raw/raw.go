// Package raw holds errors that leave handlers without a code, and those that have one.
package raw

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/candor-mcp/candor"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type in struct{ Path string }

type out struct{ Text string }

func register(s *mcp.Server) {
	s.AddTool(&mcp.Tool{Name: "literal"}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New("the literal fails") // want `rawerror: a plain Go error leaves this handler, so the client gets no code and no retry advice; return candor.From\(err\), or candor.New with a code from candor codes \(docs/vet.md\)`
	})
	mcp.AddTool(s, &mcp.Tool{Name: "typed"}, read)
}

func read(ctx context.Context, req *mcp.CallToolRequest, args in) (*mcp.CallToolResult, out, error) {
	if args.Path == "" {
		return nil, out{}, fmt.Errorf("no path for %s", req.Params.Name) // want `rawerror`
	}
	if len(args.Path) > 10 {
		return nil, out{}, fmt.Errorf("too long") // want `rawerror`
	}
	data, err := os.ReadFile(args.Path)
	if err != nil {
		return nil, out{}, err // want `rawerror`
	}
	if err := check(data); err != nil {
		return nil, out{}, fmt.Errorf("checking %s: %w", args.Path, err) // want `rawerror`
	}
	if err := check(data); err != nil {
		return nil, out{}, fmt.Errorf("checking: %s", err.Error()) // want `rawerror`
	}
	return nil, out{string(data)}, nil
}

type server struct{}

func (s *server) prompt(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	res, err := build()
	return res, err // want `rawerror`
}

func (s *server) resource(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	if req.Params.URI == "eof" {
		return nil, io.EOF // want `rawerror`
	}
	if req.Params.URI == "own" {
		return nil, errOwn // want `rawerror`
	}
	switch _, err := os.Stat("x"); {
	case err != nil:
		return nil, err // want `rawerror`
	}
	return nil, check(nil) // want `rawerror`
}

func forwards(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if req == nil {
		return plainHelper() // want `rawerror: the function called here returns plain Go errors`
	}
	if req.Params == nil {
		return codedHelper()
	}
	return forwards(ctx, req)
}

func reassigned(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	err := check(nil)
	if err != nil {
		err = check([]byte("again"))
		return nil, err // want `rawerror`
	}
	return nil, nil
}

var errOwn = errors.New("mine")

func plainHelper() (*mcp.CallToolResult, error) { return nil, errors.New("plain") }

func codedHelper() (*mcp.CallToolResult, error) {
	return nil, candor.New(candor.CodeUnknownToolFailure, "coded")
}

func check(data []byte) error {
	if len(data) == 0 {
		return io.ErrUnexpectedEOF
	}
	return nil
}

func build() (*mcp.GetPromptResult, error) { return nil, io.EOF }

// What follows is as it should be.

func fine(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if req == nil {
		return nil, candor.New(candor.CodeUnknownToolFailure, "no request")
	}
	if _, err := os.Stat("x"); err != nil {
		return nil, candor.From(err)
	}
	if err := codedError(); err != nil {
		return nil, err
	}
	if err := codedError(); err != nil {
		return nil, fmt.Errorf("with more words: %w", err)
	}
	if err := codedError(); err != nil {
		err = fmt.Errorf("with more words: %w", err)
		return nil, err
	}
	if req.Params == nil {
		return nil, &jsonrpc.Error{Code: -32602, Message: "no parameters"}
	}
	var ours *candor.Error
	if err := check(nil); errors.As(err, &ours) {
		return nil, ours
	}
	var err error
	if req.Session == nil {
		err = candor.New(candor.CodeUnknownToolFailure, "no session")
	}
	_ = walk(func() error { return errors.New("inside") }) //candor:allow swallowed the test is about the literal
	return nil, err
}

func missing(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	return nil, mcp.ResourceNotFoundError(req.Params.URI)
}

// middleware passes on what another handler says.
func middleware(next mcp.ToolHandler) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return next(ctx, req)
	}
}

func codedError() error { return candor.New(candor.CodeUnknownToolFailure, "coded") }

func walk(f func() error) error { return f() }

// notAHandler may return what it likes.
func notAHandler(ctx context.Context) (*mcp.CallToolResult, error) { return nil, errors.New("plain") }

func allowed(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if req == nil {
		return nil, io.EOF //candor:allow rawerror the boundary knows this one
	}
	//candor:allow rawerror so does it this one
	return nil, io.EOF
}

func notAllowed(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if req == nil {
		return nil, io.EOF /* want `^rawerror:` `^allow: this comment gives no reason` */ //candor:allow rawerror
	}
	if req.Params == nil {
		return nil, io.EOF /* want `^rawerror:` `^allow: there is no rule rawerrors` */ //candor:allow rawerrors a slip of the pen
	}
	if req.Session == nil {
		return nil, io.EOF /* want `^rawerror:` `^allow: this comment names no rule` */ //candor:allow
	}
	return nil, io.EOF /* want `rawerror` */ //candor:allow swallowed another rule
}
