package boundary

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
)

// hang blocks until the test binary ends.
func hang() { select {} }

type (
	selfError     struct{} // unwraps to itself
	selfListError struct{} // unwraps to a list that contains itself
	endlessError  struct{} // unwraps to a new error each time
	sleepyError   struct{}
	sleepyIsError struct{}
	goexitError   struct{}
	sleepyJSON    struct{}
	goexitJSON    struct{}
	sleepyBlock   struct{ *mcp.TextContent }
)

func (*selfError) Error() string                 { return "self" }
func (e *selfError) Unwrap() error               { return e }
func (*selfListError) Error() string             { return "self" }
func (e *selfListError) Unwrap() []error         { return []error{e, e} }
func (*endlessError) Error() string              { return "endless" }
func (*endlessError) Unwrap() error              { return &endlessError{} }
func (sleepyError) Error() string                { hang(); return "" }
func (sleepyIsError) Error() string              { return "sleepy" }
func (sleepyIsError) Is(error) bool              { hang(); return false }
func (goexitError) Error() string                { runtime.Goexit(); return "" }
func (sleepyJSON) MarshalJSON() ([]byte, error)  { hang(); return nil, nil }
func (goexitJSON) MarshalJSON() ([]byte, error)  { runtime.Goexit(); return nil, nil }
func (sleepyBlock) MarshalJSON() ([]byte, error) { hang(); return nil, nil }

// foreignOutcomes lists return values of handlers whose methods do not return.
var foreignOutcomes = map[string]func() (*mcp.CallToolResult, error){
	"unwraps to itself":       func() (*mcp.CallToolResult, error) { return nil, &selfError{} },
	"unwraps to a list":       func() (*mcp.CallToolResult, error) { return nil, &selfListError{} },
	"unwraps without end":     func() (*mcp.CallToolResult, error) { return nil, fmt.Errorf("x: %w", &endlessError{}) },
	"Error sleeps":            func() (*mcp.CallToolResult, error) { return nil, sleepyError{} },
	"Is sleeps":               func() (*mcp.CallToolResult, error) { return nil, sleepyIsError{} },
	"Error calls Goexit":      func() (*mcp.CallToolResult, error) { return nil, goexitError{} },
	"panic with such a value": func() (*mcp.CallToolResult, error) { panic(sleepyError{}) },
	"structure sleeps": func() (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{StructuredContent: sleepyJSON{}}, nil
	},
	"structure calls Goexit": func() (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{StructuredContent: goexitJSON{}}, nil
	},
	"meta sleeps": func() (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Meta: mcp.Meta{"a": sleepyJSON{}}}, nil
	},
	"block sleeps": func() (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{sleepyBlock{}}}, nil
	},
	"envelope sleeps": func() (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Meta: mcp.Meta{"dev.candor/error": sleepyJSON{}}}, nil
	},
	"failed structure sleeps": func() (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true, StructuredContent: sleepyJSON{}}, nil
	},
	"failed block calls Goexit": func() (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true, Meta: mcp.Meta{"a": goexitJSON{}}}, nil
	},
	"failed with such an error": func() (*mcp.CallToolResult, error) {
		r := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "x"}}}
		r.SetError(&selfError{})
		return r, nil
	},
}

// foreignServer returns a server with a tool and a prompt that return outcome.
func foreignServer(outcome func() (*mcp.CallToolResult, error)) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "t", InputSchema: &jsonschema.Schema{Type: "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return outcome() })
	server.AddPrompt(&mcp.Prompt{Name: "p"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		r, err := outcome()
		if err == nil {
			err = r.GetError()
		}
		if err != nil {
			return nil, err
		}
		return &mcp.GetPromptResult{Meta: mcp.Meta{"x": r}}, nil
	})
	return server
}

func TestForeignMethodsAreBounded(t *testing.T) {
	t.Parallel()
	for name, outcome := range foreignOutcomes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := converse(t, foreignServer(outcome), Options{Logger: quiet, foreignLimit: 100 * time.Millisecond})
			got := s.talk(eras[0], false,
				`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`,
				`{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{"name":"p"}}`)
			for _, id := range []string{"1", "2"} {
				e, _ := envelope(t, got.at(id))
				if e.Code() != candor.CodeInternalError && e.Code() != candor.CodeResultNotEncodable || e.Ref() == "" {
					t.Errorf("answered %s", got.at(id).Bytes())
				}
			}
			if n := len(s.ledger.all()); n != 2 {
				t.Errorf("%d entries, want 2", n)
			}
		})
	}
}

// TestForeignErrorAfterTheDeadline runs a handler that returns an error that unwraps to itself after its deadline.
func TestForeignErrorAfterTheDeadline(t *testing.T) {
	t.Parallel()
	server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "t", InputSchema: &jsonschema.Schema{Type: "object"}},
		func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			<-ctx.Done()
			return nil, &selfError{}
		})
	s := converse(t, server, Options{Logger: quiet, Timeout: 20 * time.Millisecond})
	got := s.talk(eras[0], false, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`)
	if e, _ := envelope(t, got.at("1")); e.Ref() == "" {
		t.Errorf("answered %s", got.at("1").Bytes())
	}
}

// TestForeignValuesAreEncodedOnce returns a value that can be encoded only once. The SDK must get the JSON of that encoding.
func TestForeignValuesAreEncodedOnce(t *testing.T) {
	t.Parallel()
	value := &onceJSON{}
	s := converse(t, foreignServer(func() (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "ok"}}, StructuredContent: value}, nil
	}), Options{Logger: quiet})
	got := s.talk(eras[0], false, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`)
	if answer := string(got.at("1").Bytes()); !strings.Contains(answer, `"structuredContent":{"a":"<b>"}`) &&
		!strings.Contains(answer, `"structuredContent":{"a":"\u003cb\u003e"}`) {
		t.Errorf("answered %s", answer)
	}
}

type onceJSON struct{ used bool }

func (o *onceJSON) MarshalJSON() ([]byte, error) {
	if o.used {
		return nil, errors.New("encoded twice")
	}
	o.used = true
	return []byte(`{"a": "<b>"}`), nil
}
