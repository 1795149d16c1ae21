package boundary

import (
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/wire"
)

// sdkErrors lists errors of the SDK that are recognised by their text. A test provokes each of them, so that a new
// release with different texts is detected.
var sdkErrors = []struct {
	code     int64
	contains string
	is       candor.Code
}{
	{0, "is invalid during session initialization", candor.CodeNotInitialized},
	{-32602, "unknown tool ", candor.CodeToolNotFound},
	{-32602, "unknown prompt ", candor.CodePromptNotFound},
	{-32602, "invalid params: unmarshaling ", candor.CodeInvalidRequestParams},
	{-32602, "invalid _meta field", candor.CodeInvalidRequestParams},
	{-32600, `missing required "params"`, candor.CodeInvalidRequestParams},
	{-32600, "already in use", candor.CodeDuplicateRequestID},
	{-32600, "duplicate in-flight request ID", candor.CodeDuplicateRequestID},
	{0, `missing required "params"`, candor.CodeInvalidRequestParams},
	{0, "unmarshaling ", candor.CodeInvalidRequestParams},
	// Errors of mark3labs/mcp-go.
	{-32602, "not found: tool not found", candor.CodeToolNotFound},
	{-32602, "not found: prompt not found", candor.CodePromptNotFound},
	{-32600, "unparsable ", candor.CodeInvalidRequestParams},
	{-32603, "internal panic: ", candor.CodeInternalError},
}

// sdkInside lists the errors of the SDK's own handlers, which the middleware receives as Go errors.
var sdkInside = []struct {
	begins string
	is     candor.Code
	by     candor.Party
}{
	{"validating tool output: ", candor.CodeOutputInvalid, candor.PartyTool},
	{"marshaling output: ", candor.CodeResultNotEncodable, candor.PartyTool},
	{`duplicate "initialize" received`, candor.CodeInvalidRequest, candor.PartyServer},
}

// readInside returns the error for a Go error of the SDK's own handlers, or nil.
func readInside(err error) *candor.Error {
	text := err.Error()
	for _, known := range sdkInside {
		if strings.HasPrefix(text, known.begins) {
			return candor.New(known.is, "", candor.WithOrigin(known.by, false), candor.WithCause(err))
		}
	}
	return nil
}

// read converts a JSON-RPC error of the SDK or a handler.
func read(r rpcError, x *exchange) *candor.Error {
	r.message, r.data = redact.Text(r.message), redactedJSON(r.data)
	if e := readSDK(r, x); e != nil {
		return e
	}
	return readAnyServer(r)
}

// readWords converts a JSON-RPC error that says "method not found" of a method that exists. It ignores the number.
func readWords(r rpcError) *candor.Error {
	r.message, r.data = redact.Text(r.message), redactedJSON(r.data)
	r.code = jsonrpc.CodeInternalError
	return readAnyServer(r)
}

// readAnyServer converts a JSON-RPC error by the rules for errors of any server.
func readAnyServer(r rpcError) *candor.Error {
	object, err := wire.ParseValue(r.appendObject(nil), wire.Limits{})
	if err != nil {
		return candor.New(candor.CodeInternalError, "", candor.WithOrigin(candor.PartyServer, false))
	}
	return contract.ReadRPCError(object).With(candor.WithCallInfo(candor.CallInfo{})) // the error of a peer does not identify this call
}

func readSDK(r rpcError, x *exchange) *candor.Error {
	server := candor.WithOrigin(candor.PartyServer, false)
	if r.message == "Resource not found" && x.method == "resources/read" {
		return candor.New(candor.CodeResourceNotFound, "", server)
	}
	if len(r.data) > 0 { // the SDK's other errors have no data
		return nil
	}
	if r.code == -32601 {
		return candor.New(candor.CodeMethodNotFound, "", server, candor.WithDetails(map[string]any{"method": x.method}),
			candor.WithSuggestion(methodHint(x.method)))
	}
	if r.code == -32602 && r.message == "invalid params" && strings.HasSuffix(x.method, "/list") {
		return candor.New(candor.CodeInvalidCursor, "", server)
	}
	for _, known := range sdkErrors {
		if r.code == known.code && strings.Contains(r.message, known.contains) {
			return candor.New(known.is, "", append([]candor.Option{server}, about(known.is, x)...)...)
		}
	}
	return nil
}

// about returns options with the issues or details of an SDK error.
func about(code candor.Code, x *exchange) []candor.Option {
	switch code {
	case candor.CodeInvalidRequestParams:
		if issues := paramIssues(x.method, x.params); len(issues) > 0 {
			return []candor.Option{candor.WithIssues(issues...)}
		}
	case candor.CodeNotInitialized:
		return []candor.Option{candor.WithDetails(map[string]any{"method": x.method})}
	case candor.CodePromptNotFound:
		if v, err := wire.ParseValue(x.params, wire.Limits{}); err == nil {
			name, _ := v.Path("name").Str()
			return []candor.Option{candor.WithDetails(map[string]any{"prompt": name})}
		}
	}
	return nil
}
