package dialect

import (
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

// Embedded returns the canonical error that a carrier holds beside its envelope, unread: the member under [MetaKey] of a result's
// _meta, of a JSON-RPC error's data, or of a document. v may be the carrier or a JSON-RPC response.
//
// It looks only where Candor writes it. The same member elsewhere, deeper in a payload or beside the result of a response, is
// data.
func Embedded(v wire.Value) (wire.Value, bool) {
	holders := []wire.Value{v.Path("result", "_meta"), v.Path("error", "data")}
	if !v.Path("jsonrpc").Present() {
		holders = append([]wire.Value{v.Path("_meta")}, holders...)
	}
	for _, holder := range holders {
		if own, ok := holder.Get(MetaKey); ok {
			return own, true
		}
	}
	switch {
	case (rpcError{}).marked(v):
		return v.Path("data").Get(MetaKey)
	case (problem{}).marked(v):
		return v.Get(MetaKey)
	default:
		return wire.Value{}, false
	}
}

// stackView selects the stack policies that a shape follows.
type stackView uint8

const (
	stackAny     stackView = iota // both; the one that shows more wins
	stackDebug                    // DEBUG_STACK only
	stackVerbose                  // MCP_ERRORS_VERBOSE only
)

// stackFor returns the part of the error's stack that a shape may show.
func stackFor(e *candor.Error, p candor.StackPolicy, view stackView) string {
	if p.Debug && view != stackVerbose {
		return e.Stack()
	}
	if view == stackDebug {
		return ""
	}
	return p.FirstFrames(e.Stack())
}

// appendCanonical appends the parts of the canonical error that the options allow.
func appendCanonical(dst []byte, e *candor.Error, o Options, view stackView) []byte {
	shown := candor.JSONOptions{PlainRoot: o.PlainRoot, Lean: o.Lean, Brief: o.Brief}
	if e.Stack() == "" || !o.Stack.Wanted() {
		return e.AppendJSON(dst, shown)
	}
	stack := stackFor(e, o.Stack, view)
	shown.Stack = stack != ""
	if shown.Stack && stack != e.Stack() {
		e = e.With(candor.WithStack(stack))
	}
	return e.AppendJSON(dst, shown)
}

// whole returns an error that can be written. An error without a code becomes UNCODED_ERROR and keeps its other parts.
func whole(e *candor.Error) *candor.Error {
	switch {
	case e == nil:
		return candor.New(candor.CodeUncodedError, "", candor.WithOrigin(candor.PartyServer, false))
	case e.Code().Valid():
		return e
	default:
		return candor.New(candor.CodeUncodedError, e.Message(),
			candor.WithRetry(e.Retry()), candor.WithSuggestion(e.Suggestion()), candor.WithDetails(e.Details()),
			candor.WithOrigin(e.Origin().By, e.Origin().Inferred), candor.WithRef(e.Ref()), candor.WithCallInfo(e.CallInfo()),
			candor.WithCauseText(e.Cause()), candor.WithTime(e.Time()), candor.WithStack(e.Stack()))
	}
}

// visible holds the error that the members of a shape describe.
type visible struct {
	err       *candor.Error
	unknown   string // the symbol, or else the number, of a code that is not registered
	noMessage bool   // the shape has no member for a message
	noRetry   bool   // the envelope has no retry advice
	noDomain  bool   // the shape has no domain; only the symbols are compared
}

// reconcile combines the visible members with the canonical error beside them. The canonical error holds more and is used if it is
// valid and agrees with the visible members. If they differ, a program on the way changed the visible members, so these win. The
// difference is reported as details.disagreement.
func (s visible) reconcile(embedded wire.Value) *candor.Error {
	if !embedded.Present() {
		return s.err
	}
	own, foreign, err := readCanonical(embedded)
	switch {
	case err != nil:
		return disagree(s.err, object{}.text("reason", err.Error()))
	case !s.agreesInCode(own, foreign):
		return disagree(s.err, object{}.text("code", own.Code().String()).text("message", own.Message()))
	}
	if foreign != nil { // the legacy form of dual puts the code before the message
		s.err = s.err.With(candor.WithMessage(strings.TrimPrefix(s.err.Message(), s.unknown+codeMark)))
	}
	var was object
	if !s.noMessage && s.err.Message() != own.Message() && !showsBlock(s.err.Message(), own) {
		was = was.text("message", own.Message())
		own = own.With(candor.WithMessage(s.err.Message()))
	}
	if !s.noRetry && s.err.Retry() != own.Retry() {
		was = was.raw("retry", own.Retry().AppendJSON(nil))
		own = own.With(candor.WithRetry(s.err.Retry()), candor.WithSuggestion(s.err.Suggestion()))
	}
	if was.empty() {
		return own
	}
	return disagree(own, was)
}

// showsBlock reports whether a visible message is the readable block of the canonical error, as in an answer to tools/call.
func showsBlock(message string, own *candor.Error) bool {
	return strings.HasPrefix(message, own.Code().Symbol()) && strings.HasPrefix(message, strings.TrimSpace(string(AppendText(nil, own))))
}

// agreesInCode reports whether the visible code is that of the canonical error. foreign is the canonical error's code as it was
// written if it is not registered.
func (s visible) agreesInCode(own *candor.Error, foreign *foreignCode) bool {
	switch {
	case foreign != nil:
		return s.unknown != "" && (s.unknown == foreign.symbol || s.unknown == string(foreign.number.Raw()))
	case s.noDomain:
		return s.err.Code().Symbol() == own.Code().Symbol()
	default:
		return s.err.Code() == own.Code()
	}
}

func disagree(e *candor.Error, was object) *candor.Error {
	return e.With(candor.WithDetails(e.Details().With("disagreement", was.json())))
}
