package boundary

import (
	"context"
	"errors"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/ledger"
)

type pointerError struct{ text string }

func (e *pointerError) Error() string { return e.text }

type mute struct{}

func (mute) Error() string { panic("this error cannot say what it is") }

type deceiver struct{}

func (deceiver) Error() string { return "an error" }
func (deceiver) As(any) bool   { panic("this error cannot be asked") }

type unspeakable struct{}

func (unspeakable) MarshalJSON() ([]byte, error) { panic("this value cannot be written") }

// stumbles lists return values of handlers that panic when they are used.
var stumbles = map[string]func(*mcp.CallToolRequest) (*mcp.CallToolResult, error){
	"a nil pointer as error":    func(*mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, (*pointerError)(nil) },
	"a nil rpc error":           func(*mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, (*jsonrpc.Error)(nil) },
	"an error that panics":      func(*mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, mute{} },
	"an error whose As panics":  func(*mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, deceiver{} },
	"a panic with such a thing": func(*mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic(mute{}) },
	"a failed result that panics": func(*mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true, StructuredContent: unspeakable{}}, nil
	},
	"an envelope that panics": func(*mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true, Meta: mcp.Meta{"dev.candor/error": unspeakable{}}}, nil
	},
	"a failed result with a nil block": func(*mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{(*mcp.TextContent)(nil)}}, nil
	},
	"a request without params": func(req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		req.Params = nil
		return nil, errors.New("it is on fire")
	},
}

// TestPanickingMethodsOfValuesAreFailures uses a real ledger, because it uses the values too.
func TestPanickingMethodsOfValuesAreFailures(t *testing.T) {
	for name, handle := range stumbles {
		t.Run(name, func(t *testing.T) {
			trail, err := ledger.Open(t.TempDir(), ledger.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer trail.Close() //nolint:errcheck // only its entries matter
			counts := &fakeMeter{}
			session := stumbling(t, Options{Ledger: trail, Meter: counts, Logger: quiet}, handle)
			result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "stumbles"})
			e := received(result, err)
			want := candor.CodeInternalError
			if name == "a failed result with a nil block" {
				want = candor.CodeResultNotEncodable
			}
			if err != nil || e.Code() != want || e.Ref() == "" || e.CallInfo().Tool != "stumbles" {
				t.Errorf("the tool was answered %v, %v", e, err)
			}
			_, err = session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "stumbles"})
			if e := received(nil, err); e.Code() != candor.CodeInternalError || e.Ref() == "" {
				t.Errorf("the prompt was answered %v", e)
			}
			if total, _, unrecorded := counts.counts(); total != 2 || unrecorded != 0 {
				t.Errorf("%d were counted and %d not recorded, want 2 and 0", total, unrecorded)
			}
		})
	}
}

// stumbling returns a client of a server with a tool and a prompt that return the values of handle.
func stumbling(t *testing.T, o Options, handle func(*mcp.CallToolRequest) (*mcp.CallToolResult, error)) *mcp.ClientSession {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "stumbles", InputSchema: &jsonschema.Schema{Type: "object"}},
		func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return handle(req) })
	server.AddPrompt(&mcp.Prompt{Name: "stumbles"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		if _, err := handle(&mcp.CallToolRequest{}); err != nil {
			return nil, err
		}
		return nil, (*pointerError)(nil)
	})
	Install(server, o)
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), far, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil).Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}
