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
	"github.com/candor-mcp/candor/internal/record"
	"github.com/candor-mcp/candor/wire"
)

// saidRPC returns the JSON-RPC error in the chain of an error. An error of ours in front of it wins.
func saidRPC(err error) (rpcError, bool) {
	if carriesError(err) || askedClient(err) {
		return rpcError{}, false
	}
	said, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || said == nil {
		return rpcError{}, false
	}
	return rpcError{code: said.Code, message: err.Error(), data: writable(said.Data)}, true
}

// askedClient reports the error of a request that a handler made of the client. Its number is the client's, about that request,
// and says nothing about the call.
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

// clientCalls are how the SDK begins the error of each request that a server may make.
var clientCalls = []string{`calling "roots/list": `, `calling "sampling/createMessage": `, `calling "elicitation/create": `}

// ran gives an error that came out of a tool the origin that is true of it here: whoever it came from first, it is the tool that says
// so, and the tool has run. Clients take a refusal by the server for a sign that nothing has happened.
// A server's own word that it could not record stays its own: it knows what was done.
func attributeToTool(e *candor.Error) *candor.Error {
	by := e.Origin()
	if by.By == candor.PartyTool || by.By == candor.PartyServer && !by.Inferred && record.IsAudit(e.Code()) {
		return e
	}
	return e.With(candor.WithOrigin(candor.PartyTool, by.Inferred))
}

// refusedByClient is the error of a handler that needs something its client does not offer, nil for any other.
func refusedByClient(err error) *candor.Error {
	said, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || said == nil || said.Code != jsonrpc.CodeMethodNotFound || !askedClient(err) {
		return nil
	}
	return candor.New(candor.CodeCapabilityRequired, "", candor.WithOrigin(candor.PartyClient, false), candor.WithCause(err))
}

// understand turns the Go error of a handler into an error; by is who returned it. An error that says what it is keeps that; a text is read by the
// rules that are applied to any other server's texts; what is left is INTERNAL_ERROR.
func (b *Boundary) understand(err error, by candor.Party) *candor.Error {
	if e := refusedByClient(err); e != nil {
		return e
	}
	if carriesError(err) {
		return candor.From(err)
	}
	if isDecodingOwn(err) {
		return b.undecoded(err, by)
	}
	if code := candor.KnownCode(err); code.Valid() {
		e := b.withWords(candor.From(err), err)
		if strings.Contains(err.Error(), code.Symbol()) { // the code was read from the text, which may quote another party
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
	return candor.New(candor.CodeInternalError, err.Error(), candor.WithOrigin(by, false), candor.WithCause(err))
}

// isDecodingOwn reports an error of encoding/json or strconv. The arguments have passed the schema, so it is about something that the
// handler itself has read, and no other argument would help.
func isDecodingOwn(err error) bool {
	switch candor.KnownCode(err) {
	case candor.Code{}, kaiza.InvalidInputType, kaiza.InvalidInputFormat:
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

// undecoded is the error of a handler that could not read what it got from elsewhere.
func (b *Boundary) undecoded(err error, by candor.Party) *candor.Error {
	text := err.Error()
	if b.o.HideErrorText {
		text = ""
	}
	return candor.New(candor.CodeInternalError, text, candor.WithOrigin(by, false), candor.WithCause(err))
}

func carriesError(err error) bool {
	_, ok := errors.AsType[*candor.Error](err)
	return ok
}

// isSystems reports an error of the operating system or the network, whose text is for the operator.
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

// readText reads the text of a failed tool, as the gateway would read it.
func readText(text string) *candor.Error { return contract.ReadText(contract.Redact(text)) }

// readResult reads a result that says isError and holds no envelope.
func readResult(result *mcp.CallToolResult) *candor.Error {
	raw, err := json.Marshal(result)
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

// isSDKValidation reports the error with which the SDK refuses arguments. It has no type of its own.
func isSDKValidation(err error) bool {
	text := err.Error()
	return strings.HasPrefix(text, `validating "arguments": `) || strings.HasPrefix(text, "json: cannot unmarshal")
}

// attached returns the canonical error that the author of a tool put into its result, or nil.
func attached(result *mcp.CallToolResult) *candor.Error {
	raw := envelopeOf(result)
	if raw == nil {
		return nil
	}
	v, err := wire.ParseValue(raw, wire.Limits{})
	if err != nil {
		return nil
	}
	e, err := dialect.ReadCandor(v)
	if err != nil {
		return nil
	}
	return e
}

func envelopeOf(result *mcp.CallToolResult) []byte {
	own, ok := result.Meta[dialect.MetaKey]
	if !ok {
		return nil
	}
	raw, err := json.Marshal(own)
	if err != nil {
		return nil
	}
	return raw
}

func quoted(text string) []byte { return wire.AppendString(nil, text) }
