// Package adapter gives package mcpgo the parts of a boundary that do not depend on an SDK. They take and return JSON. Package boundary
// does not export them, because servers do not need them.
package adapter

import (
	"context"
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/candor-mcp/candor"
)

// Of returns the adapter of a *boundary.Boundary. Package boundary sets it.
var Of func(boundary any) Adapter

// Adapter is a boundary for servers that are not built on the go-sdk.
type Adapter interface {
	// FailCall records and counts the failure of a tool call. It returns the result to send and the error in it. The failure is err;
	// result is the result that the tool returned, or nil. If err is nil, the failure is read from the result: a result that already
	// contains a complete envelope is returned unchanged, except for secrets and for retry advice that could cause a second effect.
	//
	// The result has isError, except in pattern B of the dual dialect. If the server's dialect is rpc, the result is in the candor
	// dialect, and the caller must send the error as a JSON-RPC error.
	FailCall(ctx context.Context, c Call, err error, result json.RawMessage) (json.RawMessage, *candor.Error)
	// CheckArguments validates the arguments of a call against the input schema of its tool. It returns INVALID_ARGUMENTS with all
	// issues, or nil. A schema that cannot be compiled accepts all arguments.
	CheckArguments(inputSchema, arguments json.RawMessage) *candor.Error
	// CheckOutput validates the structured content of a result against the output schema of its tool. It returns OUTPUT_INVALID, or
	// nil.
	CheckOutput(outputSchema, structured json.RawMessage) *candor.Error
	// RefuseMessage checks whether the bytes are a JSON-RPC message. If not, it records and counts the failure and returns the answer
	// to send, which is nil if the protocol does not allow one. The answer has no id if the id cannot be read.
	RefuseMessage(ctx context.Context, message []byte) (answer []byte, refused bool)
	// RefuseRequest records and counts the failure of a request and returns the answer to send, or nil for a notification.
	RefuseRequest(ctx context.Context, request []byte, e *candor.Error) []byte
	// SealAnswer returns the answer to send for a response. If the response is a JSON-RPC error, SealAnswer records and counts it and
	// adds its envelope. Any other response is returned unchanged.
	SealAnswer(ctx context.Context, request, response []byte) []byte
	// Stats returns the result of sys/errorStats for the params of a request, and false if the meter does not report its counts.
	Stats(params []byte) (json.RawMessage, bool)
	// Announce adds the extension to the capabilities in the result of initialize or server/discover.
	Announce(result json.RawMessage) json.RawMessage
	// Envelope returns the error in the envelope of a result, or nil.
	Envelope(result json.RawMessage) *candor.Error
	// Recovered returns the error for the value of a handler's panic. Call it in the deferred function that has recovered the panic.
	Recovered(thrown any) *candor.Error
	// Encode encodes the result of a handler with a time limit, because its types may have foreign methods. It returns an error for a
	// value that cannot be encoded in time, or whose encoding is not UTF-8.
	Encode(result any) (json.RawMessage, error)
	// RecordSuccess records a successful call, if successes are recorded.
	RecordSuccess(ctx context.Context, s candor.Success)
	// NoteRecorded notes that the failure in a response was recorded, so that writing the response to the connection does not record it
	// again. Request is the call as it was read from the connection.
	NoteRecorded(request *jsonrpc.Request, response *jsonrpc.Response)
}

// Call describes a tools/call request.
type Call struct {
	Tool      string
	Session   string          // "" if the call has no session
	Arguments json.RawMessage // only a digest is kept
	// OutputSchema is the outputSchema of the tool, or nil.
	OutputSchema json.RawMessage
	// Repeatable reports that the tool declares readOnlyHint or idempotentHint. The failure of any other tool that may have taken
	// effect is not_retryable; see contract.AvoidSecondEffect.
	Repeatable bool
	// Complete reports that the protocol version is 2026-07-28 or later, in which every result has a resultType.
	Complete bool
}

// Grace is how long a handler may still run after its deadline before [Run] stops waiting for it.
const Grace = 50 * time.Millisecond

// Run runs a handler with a time limit. The context of the handler ends with the limit. If the handler still does not return, Run does
// not wait for it: its goroutine keeps running, and returned is false. If the handler ends its goroutine, the value is deserted. The
// error is that of the handler's context.
func Run[T any](ctx context.Context, limit time.Duration, deserted T, handler func(context.Context) T) (out T, returned bool, err error) {
	within, cancel := context.WithTimeout(ctx, limit)
	done := make(chan T, 1)
	go func() {
		out := deserted
		defer func() {
			done <- out
			cancel()
		}()
		out = handler(within)
	}()
	select {
	case out = <-done:
		return out, true, within.Err()
	case <-within.Done():
	}
	select {
	case out = <-done:
		return out, true, within.Err()
	case <-time.After(Grace):
		return out, false, within.Err()
	}
}
