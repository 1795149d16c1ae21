package dialect

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/limits"
	"github.com/candor-mcp/candor/wire"
)

// rpcError is the numeric taxonomy: a JSON-RPC error {code, message, data}; its data holds domain, symbol, retryable,
// retryAfterMs, details and, under MCP_ERRORS_VERBOSE, stack. The number is [candor.CodeInfo]; domain and symbol are
// always written, because they are the identity and numbers have been reassigned before.
type rpcError struct{}

// Name returns the name of the dialect.
func (rpcError) Name() string { return "rpc" }

// Encode appends the error object {code, message, data} without the canonical error in data.
func (rpcError) Encode(dst []byte, e *candor.Error, o Options) []byte {
	e = whole(e)
	return append(appendData(openRPC(dst, e), e, o, false), '}')
}

// Write appends a JSON-RPC response.
func (rpcError) Write(dst []byte, e *candor.Error, o Options) []byte {
	e = whole(e)
	dst = append(openResponse(dst, o.ID), `"error":`...)
	return append(appendData(openRPC(dst, e), e, o, true), `}}`...)
}

// AppendData appends the data member that the rpc dialect writes, for a library that builds the JSON-RPC error itself.
// It includes the canonical error, unless the data is exactly a uri. The number of the error is e.Code().RPCNumber().
func AppendData(dst []byte, e *candor.Error, o Options) []byte {
	return appendData(dst, whole(e), o, true)
}

func appendData(dst []byte, e *candor.Error, o Options, canonical bool) []byte {
	if isOnlyURI(e) {
		return append(dst, e.Details().String()...)
	}
	dst = appendRPCData(append(dst, '{'), e, o)
	if canonical {
		dst = appendCanonical(appendName(dst, MetaKey), e, o, stackVerbose)
	}
	return append(dst, '}')
}

func openRPC(dst []byte, e *candor.Error) []byte {
	dst = strconv.AppendInt(append(dst, `{"code":`...), int64(e.Code().Info().RPCNumber), 10)
	dst = jsontext.AppendString(appendName(dst, "message"), e.Message())
	return append(dst, `,"data":`...)
}

// appendRPCData appends the members of data, without its braces.
func appendRPCData(dst []byte, e *candor.Error, o Options) []byte {
	dst = append(append(dst, `"domain":"`...), e.Code().Domain()...)
	dst = append(append(dst, `","symbol":"`...), e.Code().Symbol()...)
	dst = append(dst, '"')
	details, beside := apart(e.Details())
	if details != "" {
		dst = appendRaw(dst, "details", details)
	}
	dst = appendBool(dst, "retryable", e.Retry().Retryable())
	if ms := e.Retry().AfterMs(); ms > 0 {
		dst = appendInt(dst, "retryAfterMs", ms)
	}
	dst = appendMember(dst, "stack", stackFor(e, o.Stack, stackVerbose))
	for name, value := range beside.Members() {
		dst = append(append(append(append(dst, ','), name.Raw()...), ':'), value.Raw()...)
	}
	return dst
}

func (rpcError) marked(v wire.Value) bool {
	return v.Path("code").IsInteger() && v.Path("message").Type() == wire.TypeString
}

// Read identifies an error by domain and symbol if it has both, with any number, and else by its number. An unknown
// error becomes UNKNOWN_TOOL_FAILURE for a positive number and INTERNAL_ERROR otherwise, and details.said keeps its
// identity. Members of data that the dialect does not define are kept in details.
func (d rpcError) Read(v wire.Value) (*candor.Error, error) {
	if inner, ok := v.Get("error"); ok {
		v = inner
	}
	if !d.marked(v) {
		return nil, refuse(d.Name(), "it is the error member of a JSON-RPC response",
			"no object with an integer code and a string message was found")
	}
	embedded, _ := v.Path("data").Get(MetaKey)
	return rpcVisible(v).reconcile(embedded), nil
}

func rpcVisible(v wire.Value) visible {
	message, _ := v.Path("message").Str()
	data := v.Path("data")
	said := rpcIdentity{number: v.Path("code"), domain: scalarText(data.Path("domain")), symbol: scalarText(data.Path("symbol")),
		aboutURI: isURI(data)}
	code, known := said.code()
	options := []candor.Option{candor.WithStack(rpcStack(data.Path("stack")))}
	if said.negative() {
		options = append(options, candor.WithOrigin(candor.PartyServer, false))
	}
	retry, advised := rpcRetry(data)
	if advised {
		options = append(options, candor.WithRetry(retry))
	}
	if details := rpcDetails(data, code); details != nil {
		options = append(options, candor.WithDetails(details))
	}
	e := candor.New(code, message, options...)
	unknown := ""
	if !known {
		e, unknown = withSaid(e, said.said()), cmp.Or(said.symbol, string(said.number.Raw()))
	}
	return visible{err: e, unknown: unknown, noRetry: !advised}
}

func rpcRetry(data wire.Value) (retry candor.Retry, said bool) {
	retryable, ok := data.Path("retryable").Bool()
	if !ok || !retryable {
		return candor.NoRetry(), ok
	}
	ms, _ := data.Path("retryAfterMs").Int64()
	ms = min(max(ms, 0), limits.RetryAfter.Milliseconds())
	return candor.RetryIn(time.Duration(ms) * time.Millisecond), true
}

// rpcStack reads a stack that is a string or a list of lines.
func rpcStack(v wire.Value) string {
	text, _ := v.Str()
	for line := range v.Elements() {
		if text != "" {
			text += "\n"
		}
		if text += scalarText(line); len(text) > limits.Stack {
			break
		}
	}
	return text
}

// rpcIdentity has the parts of a JSON-RPC error that identify the failure.
type rpcIdentity struct {
	number         wire.Value // an integer of any size
	domain, symbol string
	aboutURI       bool // data is exactly {"uri": …}
}

// legacyResourceNotFound is the protocol's number before it became -32602 with a uri. It is read but never written.
const legacyResourceNotFound = -32002

// code returns the identified code. The number alone counts only without a domain and a symbol, because two servers may
// use one number for different failures.
func (i rpcIdentity) code() (c candor.Code, known bool) {
	switch {
	case i.domain != "" && i.symbol != "":
		c, known = candor.LookupCode(i.domain, i.symbol)
	case i.symbol != "":
		c, known = candor.LookupSymbol(i.symbol)
	case i.domain != "":
		if c, known = i.byNumber(); c.Domain() != i.domain {
			known = false
		}
	default:
		c, known = i.byNumber()
	}
	if known {
		return c, true
	}
	if i.negative() {
		return candor.CodeInternalError, false
	}
	return candor.CodeUnknownToolFailure, false
}

func (i rpcIdentity) byNumber() (candor.Code, bool) {
	n, ok := i.number.Int64()
	switch {
	case !ok:
		return 0, false
	case n > 0:
		return candor.Code(n), candor.Code(n).Valid()
	case n == legacyResourceNotFound, n == int64(candor.CodeResourceNotFound.Info().RPCNumber) && i.aboutURI:
		return candor.CodeResourceNotFound, true
	}
	for c := range candor.Codes() {
		if int64(c.Info().RPCNumber) == n {
			return c, true
		}
	}
	return 0, false
}

// negative reports whether the number is one of the protocol's own, or 0, which is meaningless.
func (i rpcIdentity) negative() bool {
	raw := string(i.number.Raw())
	return strings.HasPrefix(raw, "-") || raw == "0"
}

func (i rpcIdentity) said() object {
	o := object{}.raw("number", i.number.Raw())
	if i.domain != "" {
		o = o.text("domain", i.domain)
	}
	if i.symbol != "" {
		o = o.text("symbol", i.symbol)
	}
	return o
}

// isURI reports whether data is exactly {"uri": …}, by which clients recognise a missing resource.
func isURI(data wire.Value) bool {
	return data.Len() == 1 && data.Path("uri").Type() == wire.TypeString
}
