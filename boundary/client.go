package boundary

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/boundary/internal/foreign"
	"github.com/candor-mcp/candor/codes/common"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/wire"
)

// Decode tells a client of the go-sdk how a tool call went: nil if it went well, else the one error that the server, the
// transport or the client itself means. Pass it both values that CallTool returned:
//
//	result, err := session.CallTool(ctx, params)
//	if e := boundary.Decode(result, err); e != nil {
//
// It reads Candor's own envelope, every dialect, and by the rules of package contract whatever else servers say. The error's
// origin tells who failed, and whether the code was said or inferred; what happened on this side of the wire is of the
// client or the transport, and never looks as if the peer had said it. errors.Is and errors.As reach err through it.
//
// A result that only looks like a failure is no failure; see [DecodeSuspected].
//
// Decode does not know whether the tool may be called twice. Unless the peer's own envelope gives the retry advice, or the error proves that
// nothing was done, the error is not_retryable and suggests to check whether the call took effect; details.said keeps the advice. [Caller]
// knows the tool's annotations.
//
// The return type is not error, because a nil *candor.Error in an error is not nil.
func Decode(result *mcp.CallToolResult, err error) *candor.Error {
	d := decode(result, err, false)
	if d.confidence < 1 {
		return nil
	}
	return d.careful()
}

// DecodeSuspected is [Decode] that also returns what a result marked as a success seems to hide, with how far that is to be trusted:
// 1 for what Decode returns, less for a guess from the shape or the words of the payload. A tool that reads files may
// return anything, so a guess is for a log or a counter and not for a decision. Without an error the confidence is 0. A success of
// more than 256 KiB is taken as one and not read: what a tool says of its own failure is short.
func DecodeSuspected(result *mcp.CallToolResult, err error) (e *candor.Error, confidence float64) {
	d := decode(result, err, true)
	return d.careful(), d.confidence
}

// DecodeError is [Decode] for the error of any method, such as ReadResource or ListTools.
func DecodeError(err error) *candor.Error { return decodeError(err).err }

// decoded is what was read from the two values of a call.
type decoded struct {
	err        *candor.Error
	confidence float64
	from       source
	notRun     bool // the error proves that the tool was not begun
}

// careful returns the error with advice that cannot cause a second effect, unless the peer's own envelope gave the advice.
func (d decoded) careful() *candor.Error {
	if d.err == nil || d.from == fromEnvelope || d.notRun {
		return d.err
	}
	return contract.AvoidSecondEffect(d.err)
}

// decodeError reads an error. Its methods may be foreign code, so they run under a limit unless they are known.
func decodeError(err error) decoded {
	if err == nil {
		return decoded{}
	}
	if foreign.Trusted(err) {
		return readError(err)
	}
	d, failed := foreign.Get(foreign.Limit, func() decoded { return readError(err) })
	if failed != nil {
		d = decoded{err: foreignFailure(failed).With(candor.WithOrigin(candor.PartyClient, false)), confidence: 1, from: fromHere}
	}
	return d
}

func readError(err error) decoded {
	d := decoded{confidence: 1, from: fromHere}
	if !foreign.Finite(err) {
		d.err = candor.From(err).With(candor.WithOrigin(candor.PartyClient, false))
		return d
	}
	d.from = errorSource(err)
	var own *candor.Error
	if errors.As(err, &own) {
		if own == nil {
			return decoded{} // a nil *candor.Error in an error
		}
		d.err = own
	} else {
		method, text := calling(err.Error())
		e := readPeer(err, method, text)
		if e == nil {
			e = readLocal(err)
		}
		// The peer's own cause is not replaced by the text of err, which only repeats the message.
		d.err = e.With(candor.WithCause(err), candor.WithCauseText(e.Cause()))
	}
	d.notRun = neverRan(d.err, d.from)
	return d
}

func decode(result *mcp.CallToolResult, err error, suspect bool) decoded {
	if d := decodeError(err); d.err != nil {
		return d
	}
	switch {
	case result == nil:
		return decoded{err: candor.New(candor.CodeEmptyResult, "", candor.WithOrigin(candor.PartyServer, true)), confidence: 1}
	case result.IsError, envelopeOf(result) != nil:
	case !suspect, !fits(result, maxSuspect):
		return decoded{} // the usual case is not encoded again
	}
	raw, err := json.Marshal(result)
	if err != nil {
		return decoded{err: notEncodable(err).With(candor.WithOrigin(candor.PartyClient, false)), confidence: 1}
	}
	line := append([]byte(`{"jsonrpc":"2.0","id":0,"result":`), raw...)
	r := readAnswer(append(line, '}'), "tools/call")
	if r.Error == nil {
		return decoded{}
	}
	d := decoded{err: r.Error, confidence: r.Confidence}
	if attached(result) != nil {
		d.from = fromEnvelope
	}
	d.notRun = neverRan(d.err, d.from)
	return d
}

// readAnswer applies the rules to an answer as it stood on the wire.
func readAnswer(line []byte, method string) contract.Reading {
	x := contract.Exchange{Response: wire.Parse(line, wire.Limits{}), At: time.Now()}
	if method != "" {
		asked := append([]byte(`{"jsonrpc":"2.0","id":0,"method":`), quoted(method)...)
		request := wire.Parse(append(asked, '}'), wire.Limits{})
		x.Request = &request
	}
	return contract.Read(&x)
}

// calling takes apart the text that the SDK gives to the failure of a call.
func calling(text string) (method, rest string) {
	after, ok := strings.CutPrefix(text, "calling ")
	if !ok {
		return "", text
	}
	name, err := strconv.QuotedPrefix(after)
	if err != nil {
		return "", text
	}
	method, _ = strconv.Unquote(name)
	return method, strings.TrimPrefix(after[len(name):], ": ")
}

// marks are the errors by which the SDK tells its own parts that nothing was said by a peer. They have the type of a peer's
// error and are not exported.
var marks = map[int64]string{
	-32003: "client is closing",
	-32004: "server is closing",
	-32005: "rejected by transport",
}

// readPeer returns the error that the peer sent, or nil if it sent none.
func readPeer(err error, method, text string) *candor.Error {
	var said *jsonrpc.Error
	if errors.As(err, &said) && said != nil {
		mark, internal := marks[said.Code]
		// A peer may use the number, and even the words, of a mark. Its error is then all that the text holds.
		if !internal || said.Message != mark || len(said.Data) > 0 || text == said.Message {
			return readAnswer(rpcError{code: said.Code, message: said.Message, data: said.Data}.append(nil, []byte("0")), method).Error
		}
		return nil
	}
	return readHidden(err)
}

// readHidden returns the error of a peer that used the number of a mark, which the SDK then takes for its own: it calls the
// connection closed, which it is not, and keeps only the text.
func readHidden(err error) *candor.Error {
	after, ok := strings.CutPrefix(err.Error(), mcp.ErrConnectionClosed.Error()+": ")
	if !ok || !errors.Is(err, mcp.ErrConnectionClosed) {
		return nil
	}
	method, text := calling(after)
	if method == "" || strings.HasPrefix(text, marks[-32003]) || strings.HasPrefix(text, marks[-32004]) {
		return nil
	}
	hidden := rpcError{code: -32603, message: text}
	return readAnswer(hidden.append(nil, []byte("0")), method).Error
}

// localErrors are the failures on this side of the wire, the first that fits.
var localErrors = []struct {
	code candor.Code
	by   candor.Party
	is   error
}{
	{candor.CodeCancelled, candor.PartyClient, context.Canceled},
	{candor.CodeTimeout, candor.PartyClient, context.DeadlineExceeded},
	{common.SessionNotFound, candor.PartyTransport, mcp.ErrSessionMissing},
	{candor.CodeUpstreamGone, candor.PartyTransport, mcp.ErrConnectionClosed},
	{candor.CodeUpstreamGone, candor.PartyTransport, io.EOF}, // the stream ended while the call was open
	{candor.CodeUpstreamGone, candor.PartyTransport, io.ErrUnexpectedEOF},
	{candor.CodeUpstreamGone, candor.PartyTransport, io.ErrClosedPipe},
	{candor.CodeUpstreamGone, candor.PartyTransport, syscall.EPIPE},
	{candor.CodeUpstreamGone, candor.PartyTransport, syscall.ECONNRESET},
}

// readLocal says what happened to a call that was not answered. It is total.
func readLocal(err error) *candor.Error {
	for _, known := range localErrors {
		if errors.Is(err, known.is) {
			return local(known.code, known.by, err)
		}
	}
	if code := candor.From(err).Code(); code == candor.CodeUpstreamUnreachable || code == candor.CodeUpstreamTimeout {
		return local(code, candor.PartyTransport, err)
	}
	if code := statusCode(err.Error()); code.Valid() {
		// The SDK keeps nothing of the answer but the words for its status.
		return local(code, candor.PartyTransport, err).With(candor.WithOrigin(candor.PartyTransport, true))
	}
	if strings.Contains(err.Error(), "marshaling call parameters") {
		return local(candor.CodeInvalidRequestParams, candor.PartyClient, err)
	}
	if isDecoding(err) {
		return local(candor.CodeUpstreamMalformed, candor.PartyTransport, err)
	}
	return local(candor.CodeInternalError, candor.PartyClient, err)
}

func local(code candor.Code, by candor.Party, err error) *candor.Error {
	return candor.New(code, "", candor.WithOrigin(by, false), candor.WithTime(time.Now()), candor.WithCause(err))
}

// statusCodes are the HTTP statuses with which a server, or something in front of it, refuses a message.
var statusCodes = map[int]candor.Code{
	http.StatusBadRequest:            candor.CodeInvalidRequest,
	http.StatusUnauthorized:          candor.CodeUnauthenticated,
	http.StatusForbidden:             candor.CodePermissionDenied,
	http.StatusNotFound:              candor.CodeNotFound,
	http.StatusMethodNotAllowed:      candor.CodeMethodNotAllowed,
	http.StatusRequestTimeout:        candor.CodeTimeout,
	http.StatusConflict:              candor.CodeConflict,
	http.StatusRequestEntityTooLarge: candor.CodeMessageTooLarge,
	http.StatusUnsupportedMediaType:  candor.CodeMediaTypeUnsupported,
	http.StatusTooManyRequests:       candor.CodeRateLimited,
	http.StatusInternalServerError:   candor.CodeInternalError,
	http.StatusBadGateway:            candor.CodeUnavailable,
	http.StatusServiceUnavailable:    candor.CodeUnavailable,
	http.StatusGatewayTimeout:        candor.CodeTimeout,
}

// statusCode returns the code for an error that ends in the words for an HTTP status, as in `sending "tools/call": Bad Request`.
func statusCode(text string) candor.Code {
	if !strings.Contains(text, "sending ") {
		return candor.Code{}
	}
	for status, code := range statusCodes {
		if strings.HasSuffix(text, ": "+http.StatusText(status)) {
			return code
		}
	}
	return candor.Code{}
}

// isDecoding reports that an answer came and could not be read. The SDK's decoder has errors of several libraries.
func isDecoding(err error) bool {
	text := err.Error()
	for _, part := range []string{"json: ", "unmarshaling", "content type", "nil content"} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}
