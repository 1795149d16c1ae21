package dialect

import (
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

// Embedded returns the canonical error that a carrier holds beside its envelope, unread: the member under [MetaKey] of
// a result's _meta, of a JSON-RPC error's data, or of a document. v may be the carrier or a JSON-RPC response.
//
// It looks only where Candor writes it: the same member elsewhere, deeper in a payload or beside the result of a response, is data.
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

// stackView is which of the two stack policies a shape follows.
type stackView uint8

const (
	stackAny     stackView = iota // either; the larger wish wins
	stackDebug                    // DEBUG_STACK alone
	stackVerbose                  // MCP_ERRORS_VERBOSE alone
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

// appendCanonical appends the canonical error as far as the options let it be seen.
func appendCanonical(dst []byte, e *candor.Error, o Options, view stackView) []byte {
	shown := candor.JSONOptions{PlainRoot: o.PlainRoot}
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

// whole returns an error that can be written: an error without a code becomes UNCODED_ERROR with all that it holds.
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

// visible has the values of the members of a shape.
type visible struct {
	err       *candor.Error
	unknown   string // the symbol that was said, or else the number, if it is not registered
	noMessage bool   // the shape has no place for a message
	noRetry   bool   // retry was not said
	noDomain  bool   // only the symbol was said, so that any domain that has it agrees
}

// reconcile joins what is visible with the canonical error beside it. The canonical error holds more and is taken if it is
// valid and says the same where both speak; where they differ somebody changed what is visible, and that is what
// counts. The difference is reported as details.disagreement.
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
	if foreign != nil { // the legacy form of dual has the code in front of its message
		s.err = s.err.With(candor.WithMessage(strings.TrimPrefix(s.err.Message(), s.unknown+codeMark)))
	}
	var was object
	if !s.noMessage && s.err.Message() != own.Message() {
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

// agreesInCode compares the code that is visible with that of the canonical error, of which foreign is the code as written if it is
// not registered.
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
