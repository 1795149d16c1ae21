package dialect

import (
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/timestamp"
	"github.com/candor-mcp/candor/wire"
)

// sep3313 is the shape of a proposal to the protocol that is not accepted yet: _meta["io.modelcontextprotocol/toolFailure"] of a
// result, {class, code, retryable, retryNotBefore?, correlationId, agentGuidance?}. Everything specific to it is in this file.
type sep3313 struct{}

// ToolFailureKey is the member of _meta in which the sep3313 dialect keeps its envelope.
const ToolFailureKey = "io.modelcontextprotocol/toolFailure"

// failureClasses maps classes to the proposal's three words: capability for calls that the tool cannot do as requested,
// reliability for calls that failed this time, governance for calls that are not allowed.
var failureClasses = map[candor.Class]string{
	candor.ClassBadRequest:   "capability",
	candor.ClassNotFound:     "capability",
	candor.ClassDenied:       "governance",
	candor.ClassConflict:     "capability",
	candor.ClassPrecondition: "capability",
	candor.ClassRateLimited:  "governance",
	candor.ClassUnavailable:  "reliability",
	candor.ClassTimeout:      "reliability",
	candor.ClassCancelled:    "governance",
	candor.ClassTooLarge:     "capability",
	candor.ClassUnsupported:  "capability",
	candor.ClassCorrupt:      "reliability",
	candor.ClassInternal:     "reliability",
}

// failureCodes are the substitutes for a code that is not registered, by the proposal's class.
var failureCodes = map[string]candor.Code{
	"capability":  candor.CodeUnsupported,
	"reliability": candor.CodeUnavailable,
	"governance":  candor.CodePermissionDenied,
}

// Name returns the name of the dialect.
func (sep3313) Name() string { return "sep3313" }

// Encode appends the value of the member in _meta.
func (sep3313) Encode(dst []byte, e *candor.Error, o Options) []byte {
	return appendToolFailure(dst, whole(e), o)
}

// Write appends a result with the text of [AppendText] as its first block.
func (d sep3313) Write(dst []byte, e *candor.Error, o Options) []byte {
	return writeResult(d, dst, e, o)
}

func (sep3313) parts(dst []byte, e *candor.Error, _ Options) resultParts {
	return resultParts{text: AppendText(dst, e), native: true, failure: true}
}

func appendToolFailure(dst []byte, e *candor.Error, o Options) []byte {
	dst = append(append(dst, `{"class":"`...), failureClasses[e.Class()]...)
	dst = append(append(dst, `","code":"`...), e.Code().Symbol()...)
	dst = appendBool(append(dst, '"'), "retryable", e.Retry().Retryable())
	dst = appendMember(dst, "retryNotBefore", notBefore(e, o.Now))
	dst = jsontext.AppendString(appendName(dst, "correlationId"), e.Ref())
	dst = appendMember(dst, "agentGuidance", e.Suggestion())
	return append(dst, '}')
}

// notBefore returns the earliest time of another attempt, or "" without a delay or a time to count from. A time that was read from
// the wire is written unchanged.
func notBefore(e *candor.Error, now time.Time) string {
	if e.Retry().AfterMs() == 0 {
		return ""
	}
	var said struct {
		At string `json:"retryNotBefore"`
	}
	if d := e.Details().Get("retryNotBefore"); !d.IsZero() && e.Details().Decode(&said) == nil {
		return said.At
	}
	from := e.Time()
	if from.IsZero() {
		from = now
	}
	if from.IsZero() {
		return ""
	}
	return from.Add(e.Retry().After()).UTC().Format(timestamp.Layout)
}

func (sep3313) marked(v wire.Value) bool {
	_, known := failureCodes[scalarText(v.Path("class"))]
	return known && v.Path("code").Type() == wire.TypeString && v.Path("retryable").Type() == wire.TypeBool
}

// Read reads a bare envelope or a result. An absolute retryNotBefore cannot become a delay without a clock: it is kept in details,
// and the advice is to wait as long as the catalogue says, or one second.
func (d sep3313) Read(v wire.Value) (*candor.Error, error) {
	envelope, result := v, wire.Value{}
	if r, ok := resultOf(v); ok {
		envelope, result = r.Path("_meta", ToolFailureKey), r
	}
	if !d.marked(envelope) {
		return nil, refuse(d.Name(), "it is the value of _meta[\""+ToolFailureKey+"\"]",
			"no object with a known class, a code and retryable was found")
	}
	embedded, _ := Embedded(result)
	return failureVisible(envelope, firstText(result)).reconcile(embedded), nil
}

func failureVisible(v wire.Value, text string) visible {
	symbol, class := scalarText(v.Path("code")), scalarText(v.Path("class"))
	code, known := candor.LookupSymbol(symbol)
	if !known {
		code = failureCodes[class]
	}
	earliest := scalarText(v.Path("retryNotBefore"))
	retry := failureRetry(v, code, earliest)
	options := []candor.Option{candor.WithRetry(retry), candor.WithRef(scalarText(v.Path("correlationId"))),
		candor.WithSuggestion(scalarText(v.Path("agentGuidance")))}
	if earliest != "" && retry.Retryable() {
		options = append(options, candor.WithDetails(object{}.text("retryNotBefore", earliest).json()))
	}
	e := candor.New(code, text, options...)
	unknown := ""
	if !known {
		e, unknown = withSaid(e, object{}.text("code", symbol).text("class", class)), symbol
	}
	return visible{err: e, unknown: unknown, noMessage: true, noRetry: true, noDomain: true}
}

func failureRetry(v wire.Value, code candor.Code, earliest string) candor.Retry {
	retryable, _ := v.Path("retryable").Bool()
	switch {
	case !retryable:
		return candor.NoRetry()
	case code.Retry().AfterMs() > 0:
		return code.Retry()
	case earliest != "":
		return candor.RetryIn(time.Second)
	default:
		return candor.RetryNow()
	}
}
