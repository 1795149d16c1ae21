// Package domain defines the parts of the harness. A domain is a group of methods about one subject, such as files or a
// browser, with the codes that each method can return. Adding a domain means adding one package that returns a
// [Domain].
package domain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/common"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/oserror"
)

// Domain is a group of methods. All of its functions may be called concurrently.
type Domain struct {
	Name    string // the domain of its codes in the catalogue, such as "kg"
	About   string // one sentence for people and models
	Methods []Method

	// Health reports whether the domain can work right now. It must return quickly, start nothing and change nothing.
	Health func(ctx context.Context) Health
	// Read returns the first MaxGiven bytes of a file, and one more if there are more, for a domain that gets it by its path. It is nil for
	// domains without files.
	Read func(path string) ([]byte, error)
	// Close releases the resources of the domain: processes, files, connections. It is called once, after the last call
	// has returned.
	Close func() error
}

// MaxGiven is the size of the files that a domain gives to another one.
const MaxGiven = 8 << 20

// Method is one method of the line protocol and, under its tool name, one tool of the MCP server.
type Method struct {
	Name  string // as in "kg/query"
	About string // for the model

	// Input holds the properties of the parameters, a JSON object of schemas. Other parameters are refused. The harness
	// validates the parameters before it calls Run, so Run gets only valid parameters.
	Input    string
	Required []string
	Codes    []candor.Code // that Run can return, besides those of every method

	ReadOnly    bool // it changes nothing
	Idempotent  bool // calling it again changes nothing more
	Destructive bool // it may overwrite or remove data
	OpenWorld   bool // it accesses systems outside of this process and its directories
	Image       bool // its result has an image: the members mediaType and data, in base64

	// Run executes one call. A failure is created with [Fail] or [candor.New]; any other error is sent to the client as
	// INTERNAL_ERROR without its text. ctx ends at the deadline of the call, or when the client disconnects.
	Run func(ctx context.Context, params json.RawMessage) (any, error)
}

// Health is the state of a domain for operators.
type Health struct {
	OK      bool   `json:"ok"`
	Details string `json:"details,omitempty"` // missing requirements and how to get them, without absolute paths
}

// Bind returns a Run function for a function with typed parameters and result.
func Bind[In, Out any](run func(ctx context.Context, in In) (Out, error)) func(context.Context, json.RawMessage) (any, error) {
	return func(ctx context.Context, params json.RawMessage) (any, error) {
		var in In
		if len(params) > 0 {
			if err := jsontext.UnmarshalWhole(params, &in); err != nil {
				return nil, Fail(common.InvalidParams, "the parameters could not be decoded", err)
			}
		}
		out, err := run(ctx, in)
		if e, _ := errors.AsType[*candor.Error](err); oserror.IsScarce(err) && !e.Retry().Retryable() { // whatever the domain made of it
			return nil, Fail(candor.CodeUnavailable, "the system has too many open files or no memory now", err)
		}
		if err != nil {
			return nil, err
		}
		return out, nil
	}
}

// Fail returns an error with one of the registered codes. It is the counterpart of the seed taxonomy's appError.
//
// details is a terse text for the client; it must not contain absolute paths or secrets. cause is the underlying error:
// it is recorded, and clients see its text only in development mode. Either may be empty. Options can override the
// advice of the catalogue, for example with [candor.WithRetry].
func Fail(code candor.Code, details string, cause error, options ...candor.Option) error {
	if details != "" {
		options = append(options, candor.WithDetails(details))
	}
	if cause != nil {
		options = append(options, candor.WithCause(cause))
	}
	if stacks.Load() {
		options = append(options, candor.WithStack(callers()))
	}
	return candor.New(code, "", options...)
}

// Schema returns the JSON Schema of the parameters.
func (m Method) Schema() (json.RawMessage, error) {
	properties := json.RawMessage("{}")
	if m.Input != "" {
		properties = json.RawMessage(m.Input)
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(m.Required) > 0 {
		schema["required"] = m.Required
	}
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, fmt.Errorf("method %s: input: %w", m.Name, err)
	}
	return text, nil
}

// stacks is set while errors must have the stack of their creation.
var stacks atomic.Bool

// KeepStacks makes [Fail] add the stack of its caller to every error from now on, which costs some microseconds. A
// server whose clients may see stacks calls it when it starts.
func KeepStacks() { stacks.Store(true) }

// callers returns the stack of the caller of Fail, without the frames of the harness.
func callers() string {
	var pcs [32]uintptr
	return candor.StackPolicy{Debug: true}.Frames(pcs[:runtime.Callers(3, pcs[:])])
}
