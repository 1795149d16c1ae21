package boundary

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"strconv"
	"strings"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/record"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/internal/truncate"
	"github.com/candor-mcp/candor/wire"
)

// saidRPC returns the JSON-RPC error in the chain of an error. It returns false if the chain contains a candor.Error.
func saidRPC(err error) (rpcError, bool) {
	if carriesError(err) || askedClient(err) {
		return rpcError{}, false
	}
	said, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || said == nil {
		return rpcError{}, false
	}
	r := rpcError{code: said.Code, message: truncate.Text(err.Error(), maxErrorText)}
	if len(said.Data) <= maxErrorText {
		r.data = writable(said.Data)
	}
	return r, true
}

// askedClient reports whether err is the error of a request that a handler sent to the client. Its number refers to
// that request, not to the call.
func askedClient(err error) bool {
	text := err.Error()
	if !strings.Contains(text, `calling "`) {
		return false
	}
	for _, call := range clientCalls {
		if strings.Contains(text, call) {
			return true
		}
	}
	return false
}

// clientCalls lists the beginnings of the SDK's errors for requests of a server.
var clientCalls = []string{`calling "roots/list": `, `calling "sampling/createMessage": `, `calling "elicitation/create": `}

// attributeToTool returns e with the tool as its origin, because the tool has run. Clients take a refusal by the server
// as a sign that the call had no effect. A server's error that a failure could not be recorded keeps its origin.
func attributeToTool(e *candor.Error) *candor.Error {
	by := e.Origin()
	if by.By == candor.PartyTool || by.By == candor.PartyServer && !by.Inferred && record.IsAudit(e.Code()) {
		return e
	}
	return e.With(candor.WithOrigin(candor.PartyTool, by.Inferred))
}

// refusedByClient returns the error for a handler that needs a capability that its client does not offer, or nil if err
// is another error.
func refusedByClient(err error) *candor.Error {
	said, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || said == nil || said.Code != jsonrpc.CodeMethodNotFound || !askedClient(err) {
		return nil
	}
	return candor.New(candor.CodeCapabilityRequired, "", candor.WithOrigin(candor.PartyClient, false), candor.WithCause(err))
}

// understand converts the Go error of a handler; by is the party that returned it, and tool its name or "". An error that has a code keeps
// it. A text is interpreted by the rules for texts of any server. All other errors become INTERNAL_ERROR.
func (b *Boundary) understand(err error, by candor.Party, tool string) *candor.Error {
	if e := refusedByClient(err); e != nil {
		return e
	}
	if carriesError(err) {
		return candor.From(err)
	}
	if isDecodingOwn(err) {
		text := err.Error()
		if b.o.HideErrorText {
			text = ""
		}
		return candor.New(candor.CodeInternalError, text, candor.WithOrigin(by, false), candor.WithCause(err))
	}
	if code := candor.KnownCode(err); code.Valid() {
		e := b.withWords(candor.From(err), err)
		if strings.Contains(err.Error(), code.Symbol()) { // the code may have been read from the text, which may quote another party
			e = e.With(candor.WithOrigin(by, true))
		}
		return e
	}
	if known := readInside(err); known != nil {
		return known
	}
	if b.o.HideErrorText || isSystems(err) {
		return b.withWords(candor.From(err), err)
	}
	if said := inferred.read(err.Error()); said != nil {
		return said.With(candor.WithCause(err))
	}
	return candor.New(candor.CodeInternalError, err.Error(), candor.WithOrigin(by, false), candor.WithCause(err),
		candor.WithTool(tool), candor.WithRef(b.o.ref()), candor.WithTime(b.o.now())) // so that stamp need not copy the error
}

// isDecodingOwn reports whether err is an error of encoding/json or strconv. The arguments were validated against the
// schema, so the error concerns data that the handler has read elsewhere, and other arguments would not help.
func isDecodingOwn(err error) bool {
	switch candor.KnownCode(err) {
	case 0, kaiza.InvalidInputType, kaiza.InvalidInputFormat:
	default:
		return false
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return true
	}
	_, ok := errors.AsType[*strconv.NumError](err)
	return ok
}

func carriesError(err error) bool {
	_, ok := errors.AsType[*candor.Error](err)
	return ok
}

// isSystems reports whether err is an error of the operating system or the network. Its text is for the operator.
func isSystems(err error) bool {
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return true
	}
	if _, ok := errors.AsType[syscall.Errno](err); ok {
		return true
	}
	_, ok := errors.AsType[*net.OpError](err)
	return ok
}

// readText interprets the text of a failed tool as the gateway does.
func readText(text string) *candor.Error {
	return contract.ReadText(redact.Text(truncate.Text(text, maxErrorText)))
}

// readResult interprets a result with isError and without an envelope.
func readResult(result *mcp.CallToolResult) *candor.Error {
	raw, err := json.Marshal(shortened(result))
	if err != nil {
		return notEncodable(err)
	}
	v, err := wire.ParseValue(redactedJSON(raw), wire.Limits{})
	if err != nil {
		return candor.New(candor.CodeUnknownToolFailure, "")
	}
	e := contract.ReadResult(v)
	return e.With(candor.WithOrigin(candor.PartyTool, e.Origin().Inferred || result.StructuredContent == nil),
		candor.WithCallInfo(candor.CallInfo{}))
}

// isSDKValidation reports whether the SDK returned err to refuse arguments. They have the type of any error.
func isSDKValidation(err error) bool {
	text := err.Error()
	return strings.HasPrefix(text, `validating "arguments": `) || strings.HasPrefix(text, "json: cannot unmarshal")
}

// attached returns the error in the envelope of a tool's result, or nil.
func attached(result *mcp.CallToolResult) *candor.Error {
	return readEnvelope(result.Meta[dialect.MetaKey])
}

// readEnvelope returns the error if v is an envelope, or nil.
func readEnvelope(v any) *candor.Error {
	if v == nil {
		return nil
	}
	raw, err := encodeValue(v)
	if err != nil {
		return nil
	}
	parsed, err := wire.ParseValue(raw, wire.Limits{})
	if err != nil {
		return nil
	}
	e, err := dialect.ReadCandor(parsed)
	if err != nil {
		return nil
	}
	return e
}

func quoted(text string) []byte { return jsontext.AppendString(nil, text) }
