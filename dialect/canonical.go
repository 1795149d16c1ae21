package dialect

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/timestamp"
	"github.com/candor-mcp/candor/wire"
)

const canonicalHint = "the written form is spec/schema/error.schema.json"

// ReadCandor reads the canonical JSON of an error, the value under [MetaKey].
//
// It accepts errors of a later contract. A code that is not registered is replaced by the registered code of its class, provided
// that its class and retry advice can be read; message, retry, ref and details are kept, details.said keeps the code as it was
// written, and the origin says that the code is inferred. Unknown members are kept in details under their own names.
//
// It returns an error that names the fault for a registered code with another class, domain or number than the catalogue's, and
// for retry advice outside the closed set. A missing ref is read as "". The lean and the brief form are accepted too: a missing class, message
// or retry is that of the code, and a missing origin is the tool with a guessed code. To check whether an error conforms to this
// version, use [CheckCandor].
//
// For every error made by a constructor it returns the same error that was written, without the parts that the writer omitted.
func ReadCandor(v wire.Value) (*candor.Error, error) {
	e, _, err := readCanonical(v)
	return e, err
}

// readCanonical is like [ReadCandor], but also returns the code as it was written if it is not registered, else nil.
func readCanonical(v wire.Value) (*candor.Error, *foreignCode, error) {
	r := canonicalReader{v: v}
	e := r.read()
	return e, r.foreign, r.err
}

// CheckCandor returns nil if v is a canonical error as this version of the contract writes them: its code is registered and every
// required member is present. The error names the first fault.
func CheckCandor(v wire.Value) error {
	r := canonicalReader{v: v, strict: true}
	_ = r.read() // sets r.err
	return r.err
}

// canonicalMembers are the members that this version of the contract has.
var canonicalMembers = []string{"code", "domain", "class", "number", "message", "retry", "suggestion", "details", "origin", "ref", "tool",
	"role", "session_id", "workspace_root", "invariant_id", "phase_id", "plan_hash", "cause", "timestamp", "stack"}

// canonicalReader reads the members of a canonical error in the order of the contract.
type canonicalReader struct {
	v       wire.Value
	strict  bool         // accept only the form that this version writes
	foreign *foreignCode // nil if the code is registered
	err     error        // the first fault
}

func (r *canonicalReader) read() *candor.Error {
	if r.v.Type() != wire.TypeObject {
		r.fail("an object is wanted, this is of type %s", r.v.Type())
		return nil
	}
	code := r.code()
	message := r.text("message", r.foreign != nil)
	if _, written := r.v.Get("message"); message == "" && written {
		r.fail("message is empty")
	}
	retry, suggestion := r.retry(code), r.text("suggestion", false)
	origin := r.origin()
	ref, context := r.text("ref", false), r.context()
	e := candor.New(code, message, candor.WithRetry(retry), candor.WithSuggestion(suggestion), candor.WithDetails(json.RawMessage(r.details().Raw())),
		candor.WithOrigin(origin.By, origin.Inferred || r.foreign != nil), candor.WithRef(ref), candor.WithCallInfo(context),
		candor.WithCauseText(r.cause()), candor.WithTime(r.time()), candor.WithStack(r.text("stack", false)))
	if r.err != nil {
		return nil
	}
	return e
}

// fail records a fault, unless there is one already.
func (r *canonicalReader) fail(problem string, args ...any) {
	if r.err == nil {
		r.err = refuse("candor", canonicalHint, problem, args...)
	}
}

// get returns a member. A missing one is a fault if it is required.
func (r *canonicalReader) get(name string, required bool) (wire.Value, bool) {
	v, ok := r.v.Get(name)
	if required && !ok {
		r.fail("%s is missing", name)
	}
	return v, ok
}

// text returns a string member, or "" if it is missing.
func (r *canonicalReader) text(name string, required bool) string {
	v, present := r.get(name, required)
	s, ok := v.Str()
	if present && !ok {
		r.fail("%s is of type %s, not a string", name, v.Type())
	}
	return s
}

// code reads code, domain, class and number. A code that is not registered is replaced by its class, unless the reader is strict.
func (r *canonicalReader) code() candor.Code {
	symbol, domain := r.text("code", true), r.text("domain", false)
	code, ok := candor.LookupCode(cmp.Or(domain, "candor"), symbol)
	switch {
	case r.err != nil:
		return 0
	case ok && code.Symbol() == symbol:
		return r.checked(code)
	case r.strict:
		r.fail("code %.64q is not registered in domain %.64q", symbol, domain)
	case !isSymbol(symbol), domain != "" && !isName(domain):
		r.fail("code %.64q in domain %.64q is not a symbol in a domain", symbol, domain)
	}
	class := r.text("class", true)
	r.foreign = &foreignCode{symbol: symbol, domain: domain}
	if !isName(class) {
		r.fail("class %.64q is not a word", class)
	}
	if !candor.Class(class).Valid() {
		r.foreign.class = r.v.Path("class")
	}
	r.foreign.number, ok = r.v.Get("number")
	if _, whole := r.foreign.number.Int64(); ok && !whole {
		r.fail("number %.24s is not an integer", r.foreign.number.Raw())
	}
	return classCode(candor.Class(class))
}

// checked returns a registered code after comparing its class and number with those that are written.
func (r *canonicalReader) checked(c candor.Code) candor.Code {
	if class := r.text("class", r.strict); candor.Class(class) != c.Class() && class != "" {
		r.fail("class %.64q is not that of %s, which is %s", class, c, c.Class())
	}
	number, written := r.v.Get("number")
	if n, ok := number.Int64(); written && (!ok || n != int64(c.Number())) {
		r.fail("number %.24s is not that of %s, which is %d", number.Raw(), c, c.Number())
	}
	return c
}

func (r *canonicalReader) retry(code candor.Code) candor.Retry {
	v, written := r.get("retry", r.strict || r.foreign != nil)
	if !written {
		return code.Retry()
	}
	retry, err := parseRetry(v)
	if err != nil {
		r.fail("%v", err)
	}
	return retry
}

func (r *canonicalReader) origin() candor.Origin {
	v, present := r.v.Get("origin")
	if !present {
		return candor.Origin{By: candor.PartyTool, Inferred: true}
	}
	by, _ := v.Path("by").Str()
	inferred, ok := v.Path("inferred").Bool()
	if !ok || !candor.Party(by).Valid() {
		r.fail("origin is not {by, inferred} with a known party")
	}
	return candor.Origin{By: candor.Party(by), Inferred: inferred}
}

// context reads the members about the call, which may be null.
func (r *canonicalReader) context() (c candor.CallInfo) {
	for _, m := range []struct {
		name string
		into *string
	}{
		{"tool", &c.Tool}, {"role", &c.Role}, {"session_id", &c.SessionID}, {"workspace_root", &c.WorkspaceRoot},
		{"invariant_id", &c.InvariantID}, {"phase_id", &c.PhaseID}, {"plan_hash", &c.PlanHash},
	} {
		if v := r.v.Path(m.name); v.Present() && !v.IsNull() {
			*m.into = r.text(m.name, false)
		}
	}
	return c
}

func (r *canonicalReader) cause() candor.Cause {
	v, present := r.v.Get("cause")
	if text, ok := v.Str(); ok {
		return candor.Cause{Message: text}
	}
	c, ok := parseCause(v)
	if _, code := v.Get("code"); present && (!ok || !code || !v.Path("name").Present()) {
		r.fail("cause is neither a string nor {message, code, name}")
	}
	return c
}

func (r *canonicalReader) time() time.Time {
	text := r.text("timestamp", false)
	if _, present := r.v.Get("timestamp"); !present {
		return time.Time{}
	}
	at, err := timestamp.Parse(text)
	if err != nil || at.Format(timestamp.Layout) != text {
		r.fail("timestamp %.40q is not ISO 8601 in UTC with milliseconds", text)
	}
	return at
}

// details returns the details together with the data that this version has no member for: unknown members, and a code that is not
// registered.
func (r *canonicalReader) details() wire.Value {
	details, more := r.v.Path("details"), without(r.v, canonicalMembers...)
	for name, own := range map[string][]string{"origin": {"by", "inferred"}, "cause": {"message", "code", "name"}} {
		if inner := without(r.v.Path(name), own...); inner.Len() > 0 {
			more = joined(more, object{}.raw(name, inner.Raw()).value())
		}
	}
	details = joined(details, more)
	if r.foreign == nil {
		return details
	}
	if details.Present() && !details.IsNull() && details.Type() != wire.TypeObject {
		details = object{}.raw(valueMember, details.Raw()).value()
	}
	said := object{}.raw("said", r.foreign.said(details.Path("said"))).value()
	return joined(said, without(details, "said"))
}

// native is the candor dialect: the canonical error, in a result with text for the model as its first block.
type native struct{}

// Name returns the name of the dialect.
func (native) Name() string { return "candor" }

// Encode appends the canonical JSON. It does not allocate if dst has the capacity.
func (native) Encode(dst []byte, e *candor.Error, o Options) []byte {
	return appendCanonical(dst, whole(e), o, stackAny)
}

// Write appends a result.
func (d native) Write(dst []byte, e *candor.Error, o Options) []byte {
	return writeResult(d, dst, e, o)
}

func (native) parts(dst []byte, e *candor.Error, _ Options) resultParts {
	return resultParts{text: AppendText(dst, e), native: true}
}

// Read finds the canonical error under the key of _meta, of data or of a document, in structuredContent of a result, or alone.
func (d native) Read(v wire.Value) (*candor.Error, error) {
	if own, ok := Embedded(v); ok {
		return ReadCandor(own)
	}
	if result, ok := resultOf(v); ok {
		if mirror := result.Path("structuredContent"); d.marked(mirror) {
			return ReadCandor(mirror)
		}
		return nil, refuse("candor", "another dialect may read it, see Detect", "the result has no _meta[%q]", MetaKey)
	}
	return ReadCandor(v)
}

// marked requires class, domain and origin, which no other shape has together.
func (native) marked(v wire.Value) bool {
	return v.Path("code").Type() == wire.TypeString && v.Path("class").Type() == wire.TypeString &&
		v.Path("domain").Type() == wire.TypeString && v.Path("origin").Type() == wire.TypeObject &&
		!v.Path("type").Present()
}
