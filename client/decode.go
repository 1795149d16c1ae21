package client

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/wire"
)

// Decode returns the error of a tool call, or nil if the call succeeded. Pass it both values that CallTool returned:
//
//	result, err := session.CallTool(ctx, params)
//	if e := client.Decode(result, err); e != nil {
//
// Decode reads Candor's envelope, every dialect, and the results of other servers by the rules of package contract. The origin
// of the error says which party failed and whether the code was inferred. A failure on this side of the connection has the
// origin client or transport. errors.Is and errors.As find err in the result.
//
// A result that only looks like a failure is a success; see [DecodeSuspected].
//
// Decode does not know whether the tool may be called twice. Unless the peer's envelope gives the retry advice, or the error
// proves that the tool did not run, the error is not_retryable and suggests checking whether the call took effect; the advice
// that was received is in details.said. A [Caller] knows the annotations of the tool.
//
// The return type is not error, because a nil *candor.Error stored in an error is not nil.
func Decode(result *mcp.CallToolResult, err error) *candor.Error {
	d := decode(result, err, false)
	if d.confidence < 1 {
		return nil
	}
	return d.careful()
}

// DecodeSuspected is [Decode] that also returns an error for a successful result that looks like a failure. The confidence is 1
// for an error that [Decode] returns, less for one that was guessed from the shape or the words of the result, and 0 without an
// error. Use a guess for a log or a counter, not for a decision: a tool that reads files may return any text. Successful results
// of more than 256 KiB are not examined.
func DecodeSuspected(result *mcp.CallToolResult, err error) (e *candor.Error, confidence float64) {
	d := decode(result, err, true)
	return d.careful(), d.confidence
}

// DecodeError is [Decode] for the error of any method, such as ReadResource or ListTools. It returns nil for nil.
func DecodeError(err error) *candor.Error { return decodeError(err).err }

// decoded is the failure that was read from the two return values of a call.
type decoded struct {
	err        *candor.Error
	confidence float64
	enveloped  bool // the error was read from the peer's envelope
}

// careful returns the error with advice that cannot cause a second effect, unless the peer's envelope gave the advice.
func (d decoded) careful() *candor.Error {
	if d.err == nil || d.advised() {
		return d.err
	}
	return contract.AvoidSecondEffect(d.err)
}

// refused reports whether the server answered the request, or the resumption of its stream, with HTTP 429. The SDK
// reports both alike. After the second it sends nothing more, so the call may be repeated in either case, but only in
// this session.
func (d decoded) refused() bool {
	by := d.err.Origin()
	return d.err.Code() == candor.CodeRateLimited && by.By == candor.PartyTransport && by.Inferred && !d.enveloped
}

// advised reports whether the peer's envelope gives the retry advice. The advice for a class that this version does not know is not
// relied on.
func (d decoded) advised() bool {
	return d.enveloped && d.err.Details().Get("said").Get("class").IsZero()
}

func decode(result *mcp.CallToolResult, err error, suspect bool) decoded {
	if d := decodeError(err); d.err != nil {
		return d
	}
	examined := math.MaxInt
	switch {
	case result == nil:
		return decoded{err: candor.New(candor.CodeEmptyResult, "", candor.WithOrigin(candor.PartyServer, true)), confidence: 1}
	case result.IsError, result.Meta[dialect.MetaKey] != nil:
	case !suspect, textSize(result) > maxSuspect:
		return decoded{} // most results are successes, so they are not encoded again
	default:
		examined = maxSuspect
	}
	raw, err := json.Marshal(result)
	if err != nil {
		return decoded{err: candor.New(candor.CodeResultNotEncodable, "", candor.WithOrigin(candor.PartyClient, false), candor.WithCause(err)),
			confidence: 1}
	}
	if len(raw) > examined {
		return decoded{}
	}
	line := append([]byte(`{"jsonrpc":"2.0","id":0,"result":`), raw...)
	r := readResponse(append(line, '}'), "tools/call")
	if r.Error == nil {
		return decoded{}
	}
	return decoded{err: r.Error, confidence: r.Confidence, enveloped: readsEnvelope(result)}
}

// maxSuspect bounds the successful results that are examined, in bytes: the texts of failures are short.
const maxSuspect = 256 << 10

// textSize returns the bytes of the texts in a result.
func textSize(result *mcp.CallToolResult) int {
	n := 0
	for _, block := range result.Content {
		if text, ok := block.(*mcp.TextContent); ok && text != nil {
			n += len(text.Text)
		}
	}
	return n
}

// decodeError reads an error.
func decodeError(err error) decoded {
	if err == nil {
		return decoded{}
	}
	d := decoded{confidence: 1, enveloped: holdsEnvelope(err)}
	var own *candor.Error
	if errors.As(err, &own) {
		if own == nil {
			return decoded{} // a nil *candor.Error in an error
		}
		d.err = own
	} else {
		e := readPeer(err, calledMethod(err.Error()))
		if e == nil {
			e = readLocal(err)
		}
		// The peer's cause is not replaced by the text of err, which only repeats the message.
		d.err = e.With(candor.WithCause(err), candor.WithCauseText(e.Cause()))
	}
	return d
}

// holdsEnvelope reports whether err is a JSON-RPC error of the peer with an envelope in its data.
func holdsEnvelope(err error) bool {
	peer, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || peer == nil {
		return false
	}
	v, bad := wire.ParseValue(peer.Data, wire.Limits{})
	return bad == nil && v.Path(dialect.MetaKey).Present()
}

// readsEnvelope reports whether a result has a valid envelope in its _meta or structuredContent.
func readsEnvelope(result *mcp.CallToolResult) bool {
	for _, member := range []any{result.Meta[dialect.MetaKey], result.StructuredContent} {
		if raw, err := json.Marshal(member); err == nil {
			if v, err := wire.ParseValue(raw, wire.Limits{}); err == nil {
				if _, err := dialect.ReadCandor(v); err == nil {
					return true
				}
			}
		}
	}
	return false
}

// readResponse applies the rules of package contract to a response. The method may be empty.
func readResponse(line []byte, method string) contract.Reading {
	x := contract.Exchange{Response: wire.Parse(line, wire.Limits{}), At: time.Now()}
	if method != "" {
		call := jsontext.AppendString([]byte(`{"jsonrpc":"2.0","id":0,"method":`), method)
		request := wire.Parse(append(call, '}'), wire.Limits{})
		x.Request = &request
	}
	return contract.Read(&x)
}

// readRPCError applies the rules of package contract to a JSON-RPC error.
func readRPCError(code int64, message string, data []byte, method string) *candor.Error {
	line := strconv.AppendInt([]byte(`{"jsonrpc":"2.0","id":0,"error":{"code":`), code, 10)
	line = jsontext.AppendString(append(line, `,"message":`...), message)
	if len(data) > 0 {
		line = append(append(line, `,"data":`...), data...)
	}
	return readResponse(append(line, "}}"...), method).Error
}

// calledMethod returns the method in the text that the SDK gives to the failure of a call, as in `calling "tools/call": text`, or "".
func calledMethod(text string) string {
	after, ok := strings.CutPrefix(text, "calling ")
	if !ok {
		return ""
	}
	method, err := strconv.QuotedPrefix(after)
	if err != nil {
		return ""
	}
	method, _ = strconv.Unquote(method)
	return method
}

// sdkErrors are the errors of the SDK itself that have the type of a peer's error. It does not export them. A peer that uses such a
// number and message looks the same.
var sdkErrors = map[int64]string{
	-32003: "client is closing",
	-32004: "server is closing",
	-32005: "rejected by transport",
}

// readPeer returns the error that the peer sent, or nil if it sent none.
func readPeer(err error, method string) *candor.Error {
	peer, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || peer == nil || sdkErrors[peer.Code] == peer.Message && len(peer.Data) == 0 {
		return nil
	}
	return readRPCError(peer.Code, peer.Message, peer.Data, method)
}
