package boundary

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/wire"
)

// rpcError is the error member of a JSON-RPC response.
type rpcError struct {
	code    int64
	message string
	data    []byte // JSON, or nil
}

// rpcErrorOf converts an error as the SDK would encode it, but keeps the data of a wrapped error.
func rpcErrorOf(err error) rpcError {
	inner, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || inner == nil {
		return rpcError{message: err.Error()}
	}
	return rpcError{code: inner.Code, message: err.Error(), data: writable(inner.Data)}
}

// parsedRPCError returns the error object of a message.
func parsedRPCError(v wire.Value) rpcError {
	r := rpcError{data: v.Path("data").Raw()}
	r.code, _ = v.Path("code").Int64()
	r.message, _ = v.Path("message").Str()
	return r
}

// resultMessage returns a complete response.
func resultMessage(id wire.ID, result []byte) []byte {
	m := append(append([]byte(`{"jsonrpc":"2.0","id":`), id...), `,"result":`...)
	return append(append(m, result...), '}')
}

// writable returns the data of an error, or nil if it is not valid JSON in UTF-8.
func writable(data json.RawMessage) []byte {
	if !utf8.Valid(data) || !json.Valid(data) {
		return nil
	}
	return data
}

func (r rpcError) wire() *jsonrpc.Error {
	return &jsonrpc.Error{Code: r.code, Message: r.message, Data: json.RawMessage(r.data)}
}

// append appends the complete response. Without an id the member is omitted, as MCP requires for the answer to an unreadable message.
func (r rpcError) append(dst, id []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0",`...)
	if len(id) > 0 {
		dst = append(append(append(dst, `"id":`...), id...), ',')
	}
	return append(r.appendObject(append(dst, `"error":`...)), '}')
}

// appendObject appends the error object.
func (r rpcError) appendObject(dst []byte) []byte {
	dst = strconv.AppendInt(append(dst, `{"code":`...), r.code, 10)
	dst = jsontext.AppendString(append(dst, `,"message":`...), r.message)
	if len(r.data) > 0 {
		dst = append(append(dst, `,"data":`...), r.data...)
	}
	return append(dst, '}')
}

// refuse records a failure that a layer around the SDK has detected, and returns the error to answer with.
func (b *Boundary) refuse(ctx context.Context, e *candor.Error, v contract.Verdict, x exchange) rpcError {
	return b.express(ctx, e, v, &x, rpcError{code: int64(e.Code().Info().RPCNumber), message: e.Message()})
}

// seal records a JSON-RPC error that the SDK is about to send and that the middleware has not recorded, and returns the error to
// send.
func (b *Boundary) seal(ctx context.Context, in rpcError, x exchange) rpcError {
	e := read(in, &x)
	return b.express(ctx, e, contract.VerdictProtocol, &x, in.improved(e))
}

// key identifies an error by the ref of its envelope, by its data if it has no ref, or by its message if it has no data.
func (r rpcError) key() string {
	v, err := wire.ParseValue(r.data, wire.Limits{})
	if err != nil {
		return "message:" + r.message
	}
	if own, ok := v.Get(dialect.MetaKey); ok {
		if ref, ok := own.Path("ref").Str(); ok && ref != "" {
			return ref
		}
	}
	return "data:" + string(r.data)
}

// passedMiddleware reports whether the data of an error shows that the middleware has recorded it: it has an envelope, or is the URI of
// a missing resource.
func (r rpcError) passedMiddleware() bool {
	v, err := wire.ParseValue(r.data, wire.Limits{})
	return err == nil && v.Path(dialect.MetaKey).Present() || isResourceURI(r.data)
}

// improved replaces the number 0 and the message, because the SDK's messages quote input and name Go types.
func (r rpcError) improved(e *candor.Error) rpcError {
	if r.code == 0 {
		r.code = int64(e.Code().Info().RPCNumber)
	}
	r.message = e.Message()
	return r
}

// data returns the data member for an error without data: the members of the server's dialect and the envelope.
func (b *Boundary) data(e *candor.Error, envelope []byte) []byte {
	switch b.o.Dialect.Name() {
	case "rpc":
		return dialect.AppendData(nil, e, b.options())
	case "candor", "problem", "sep3313":
		data := append(make([]byte, 0, len(envelope)+32), `{"`+dialect.MetaKey+`":`...)
		return append(append(data, envelope...), '}')
	}
	own := b.o.Dialect.Encode(nil, e, b.options())
	if data, ok := withEnvelope(own, envelope); ok {
		return data
	}
	return own
}

// isResourceURI reports whether data has the form by which clients recognise a missing resource. No member may be added to it, and
// only secrets are replaced.
func isResourceURI(data []byte) bool {
	v, err := wire.ParseValue(data, wire.Limits{})
	if err != nil || v.Type() != wire.TypeObject || v.Len() != 1 {
		return false
	}
	_, ok := v.Get("uri")
	return ok
}

// withEnvelope adds the envelope to data. Data that is not an object becomes the member "value" of one.
func withEnvelope(data, envelope []byte) ([]byte, bool) {
	v, err := wire.ParseValue(data, wire.Limits{})
	if err != nil {
		return nil, false
	}
	if v.Type() != wire.TypeObject {
		out := append(append([]byte(`{"value":`), data...), `,"`+dialect.MetaKey+`":`...)
		return append(append(out, envelope...), '}'), true
	}
	out, err := splice.SetMember(nil, data, []string{dialect.MetaKey}, envelope)
	return out, err == nil
}
