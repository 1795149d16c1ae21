package dialect

import (
	"encoding/json"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/limits"
	"github.com/candor-mcp/candor/wire"
)

// toolError is the shape of the workflow engine: {code, message, retry, suggestion?, details?}, compact. retry is
// always present. suggestion is a top-level member and is written only if it differs from the catalogue's. Validation
// issues are details.validationIssues with dotted paths, and details are never nested as details.details.
type toolError struct{}

const toolDomain = "workrail"

// Name returns the name of the dialect.
func (toolError) Name() string { return "tool-error" }

// Encode appends the envelope on one line.
func (toolError) Encode(dst []byte, e *candor.Error, _ Options) []byte {
	e = whole(e)
	dst = append(append(dst, `{"code":"`...), e.Code().Symbol()...)
	dst = jsontext.AppendString(append(dst, `","message":`...), e.Message())
	dst = e.Retry().AppendJSON(appendName(dst, "retry"))
	if next := e.Suggestion(); next != toolAdvice(e.Code()) {
		dst = appendMember(dst, "suggestion", next)
	}
	if details := e.Details(); !details.IsZero() {
		dst = append(appendName(dst, "details"), toolDetails(details)...)
	}
	return append(dst, '}')
}

// Write appends a result.
func (d toolError) Write(dst []byte, e *candor.Error, o Options) []byte {
	return writeResult(d, dst, e, o)
}

func (d toolError) parts(dst []byte, e *candor.Error, o Options) resultParts {
	envelope := d.Encode(dst, e, o)
	return resultParts{text: envelope, mirror: envelope}
}

// toolAdvice returns the suggestion that a reader of the bare envelope adds by itself. It need not be sent, so an
// envelope that was read without a suggestion is also written without one.
func toolAdvice(c candor.Code) string {
	read, _ := symbolCode(c.Symbol(), toolDomain)
	return read.Info().Action
}

// toolDetails returns details in the form of this shape. Most details need no change and are returned as they are.
func toolDetails(d candor.Details) []byte {
	raw := []byte(d.String())
	v, err := wire.ParseValue(raw, wire.Limits{})
	if err != nil || v.Type() != wire.TypeObject {
		return raw
	}
	v = flattened(v)
	list, has := v.Get("issues")
	if _, taken := v.Get("validationIssues"); !has || taken {
		return v.Raw()
	}
	issues, ok := dottedIssues(list)
	if !ok {
		return v.Raw()
	}
	var out object
	for name, value := range v.Members() {
		if name.Is("issues") {
			out = out.raw("validationIssues", issues)
		} else {
			out = out.keep(name, value)
		}
	}
	return out.json()
}

// flattened moves the members of an object called details into the object around it, and repeats this while their names
// do not clash.
func flattened(v wire.Value) wire.Value {
	for range limits.Depth {
		inner, ok := v.Get("details")
		if !ok || inner.Type() != wire.TypeObject || clash(v, inner) {
			return v
		}
		var out object
		for name, value := range v.Members() {
			if !name.Is("details") {
				out = out.keep(name, value)
			}
		}
		for name, value := range inner.Members() {
			out = out.keep(name, value)
		}
		v = out.value()
	}
	return v
}

func clash(outer, inner wire.Value) bool {
	for name := range inner.Members() {
		key, _ := name.Str()
		if _, taken := outer.Get(key); taken && key != "details" {
			return true
		}
	}
	return false
}

func (toolError) marked(v wire.Value) bool {
	return likeToolError(v) && v.Path("retry", "kind").Type() == wire.TypeString
}

// likeToolError reports whether v has a code and a message. That is enough only for a reader that is configured for the
// dialect, because many objects have both.
func likeToolError(v wire.Value) bool {
	return v.Path("code").Type() == wire.TypeString && v.Path("message").Type() == wire.TypeString &&
		!v.Path("class").Present()
}

// Read reads both editions of the shape, compact or not: suggestion at the top or in details, details nested or not,
// validationIssues or validationErrors. The kind "retryable", which one path of that server writes, is read as advice
// to retry at once, or after suggestedDelayMs. Without retry, the catalogue's advice applies.
func (d toolError) Read(v wire.Value) (*candor.Error, error) {
	envelope, result, ok := findEnvelope(v, likeToolError)
	if !ok {
		return nil, refuse(d.Name(), "it is the JSON text of content[0]", "no object with code, message and retry was found")
	}
	seen, err := toolVisible(envelope)
	if err != nil {
		return nil, refuse(d.Name(), "retry is a closed set of three kinds", "%v", err)
	}
	embedded, _ := Embedded(result)
	return seen.reconcile(embedded), nil
}

func toolVisible(v wire.Value) (visible, error) {
	symbol, _ := v.Path("code").Str()
	message, _ := v.Path("message").Str()
	code, known := symbolCode(symbol, toolDomain)
	options := make([]candor.Option, 0, 3)
	retry, said := v.Get("retry")
	if said {
		advice, err := toolRetry(retry)
		if err != nil {
			return visible{}, err
		}
		options = append(options, candor.WithRetry(advice))
	}
	details, suggestion := readToolDetails(v)
	if details != nil {
		options = append(options, candor.WithDetails(details))
	}
	e := candor.New(code, message, append(options, candor.WithSuggestion(suggestion))...)
	if !known {
		return visible{err: withSaid(e, object{}.text("code", symbol)), unknown: symbol, noRetry: !said, noDomain: true}, nil
	}
	return visible{err: e, noRetry: !said, noDomain: true}, nil
}

// toolRetry reads the closed set, and a fourth kind that a server is known to send.
func toolRetry(v wire.Value) (candor.Retry, error) {
	if !v.Path("kind").Is("retryable") {
		return parseRetry(v)
	}
	ms, _ := v.Path("suggestedDelayMs").Int64()
	ms = min(max(ms, 0), limits.RetryAfter.Milliseconds())
	return candor.RetryIn(time.Duration(ms) * time.Millisecond), nil
}

// readToolDetails returns the details in canonical form, or nil, and the suggestion from the top or from details.
func readToolDetails(v wire.Value) (details json.RawMessage, suggestion string) {
	suggestion = scalarText(v.Path("suggestion"))
	d := joined(v.Path("details"), without(v, "code", "message", "retry", "suggestion", "details"))
	if !d.Present() {
		return nil, suggestion
	}
	if d.Type() != wire.TypeObject {
		return d.Raw(), suggestion
	}
	d = flattened(d)
	if inner, has := d.Path("suggestion").Str(); has && suggestion == "" {
		suggestion = inner
		if d = without(d, "suggestion"); d.Len() == 0 {
			return nil, suggestion
		}
	}
	for _, name := range []string{"validationIssues", "validationErrors"} {
		d = renamed(d, name, "issues")
	}
	return canonicalDetails(d).Raw(), suggestion
}

// renamed renames a member, unless the new name is in use.
func renamed(v wire.Value, from, to string) wire.Value {
	if _, taken := v.Get(to); taken || !v.Path(from).Present() {
		return v
	}
	var out object
	for name, value := range v.Members() {
		if name.Is(from) {
			out = out.raw(to, value.Raw())
		} else {
			out = out.keep(name, value)
		}
	}
	return out.value()
}

// without returns a copy of an object without some members.
func without(v wire.Value, names ...string) wire.Value {
	var out object
	for name, value := range v.Members() {
		dropped := false
		for _, n := range names {
			dropped = dropped || name.Is(n)
		}
		if !dropped {
			out = out.keep(name, value)
		}
	}
	return out.value()
}
