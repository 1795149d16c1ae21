package dialect

import (
	"encoding/json"

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
// for retry advice outside the closed set. A missing ref is read as "". To check whether an error conforms to this version, use
// [CheckCandor].
//
// For every error made by a constructor it returns the same error that was written, without the parts that the writer omitted.
func ReadCandor(v wire.Value) (*candor.Error, error) {
	e, _, err := readCanonical(v)
	return e, err
}

// readCanonical is like [ReadCandor], but also returns the code as it was written if it is not registered, else nil.
func readCanonical(v wire.Value) (*candor.Error, *foreignCode, error) {
	r, err := newCanonicalReader(v)
	if err != nil {
		return nil, nil, err
	}
	e, err := r.read()
	return e, r.foreign, err
}

// CheckCandor returns nil if v is a canonical error as this version of the contract writes them: its code is registered and every
// required member is present. The error names the first fault.
func CheckCandor(v wire.Value) error {
	r, err := newCanonicalReader(v)
	if err != nil {
		return err
	}
	r.strict = true
	_, err = r.read()
	return err
}

func newCanonicalReader(v wire.Value) (*canonicalReader, error) {
	if v.Type() != wire.TypeObject {
		return nil, refuseCanonical("an object is wanted, this is of type %s", v.Type())
	}
	r := &canonicalReader{values: make(map[string]wire.Value, len(canonicalReaders))}
	for name, value := range v.Members() {
		key, _ := name.Str()
		if canonicalMembers[key] {
			r.values[key] = value
		} else {
			r.unknown = r.unknown.keep(name, value)
		}
	}
	return r, nil
}

// canonicalReader turns members into options. err holds the first fault.
type canonicalReader struct {
	values  map[string]wire.Value
	unknown object // members that this version does not have
	strict  bool   // accept only the form that this version writes
	code    candor.Code
	foreign *foreignCode // nil if the code is registered
	message string
	by      candor.Origin
	context candor.CallInfo
	options []candor.Option
	err     error
}

// presence says whether a member is required.
type presence uint8

const (
	optional  presence = iota
	ofKnown            // required with a registered code
	mandatory          // always required
)

// canonicalReaders is the table of members, in the order they are checked.
var canonicalReaders = []struct {
	name string
	must presence
	read func(*canonicalReader, wire.Value)
}{
	{"code", mandatory, (*canonicalReader).readCode},
	{"domain", ofKnown, func(*canonicalReader, wire.Value) {}}, // checked with code
	{"class", mandatory, (*canonicalReader).readClass},
	{"number", ofKnown, (*canonicalReader).readNumber},
	{"message", mandatory, (*canonicalReader).readMessage},
	{"retry", mandatory, (*canonicalReader).readRetry},
	{"suggestion", optional, (*canonicalReader).readSuggestion},
	{"details", optional, func(*canonicalReader, wire.Value) {}}, // read last, together with unknown members
	{"origin", ofKnown, (*canonicalReader).readOrigin},
	{"ref", optional, (*canonicalReader).readRef},
	{"tool", optional, context("tool", func(c *candor.CallInfo) *string { return &c.Tool })},
	{"role", optional, context("role", func(c *candor.CallInfo) *string { return &c.Role })},
	{"session_id", optional, context("session_id", func(c *candor.CallInfo) *string { return &c.SessionID })},
	{"workspace_root", optional, context("workspace_root", func(c *candor.CallInfo) *string { return &c.WorkspaceRoot })},
	{"invariant_id", optional, context("invariant_id", func(c *candor.CallInfo) *string { return &c.InvariantID })},
	{"phase_id", optional, context("phase_id", func(c *candor.CallInfo) *string { return &c.PhaseID })},
	{"plan_hash", optional, context("plan_hash", func(c *candor.CallInfo) *string { return &c.PlanHash })},
	{"cause", optional, (*canonicalReader).readCause},
	{"timestamp", optional, (*canonicalReader).readTime},
	{"stack", optional, (*canonicalReader).readStack},
}

var canonicalMembers = func() map[string]bool {
	names := make(map[string]bool, len(canonicalReaders))
	for _, m := range canonicalReaders {
		names[m.name] = true
	}
	return names
}()

func (r *canonicalReader) read() (*candor.Error, error) {
	r.by = candor.Origin{By: candor.PartyTool}
	for _, m := range canonicalReaders {
		value, ok := r.values[m.name]
		switch {
		case ok:
			m.read(r, value)
		case m.must == mandatory, m.must == ofKnown && r.foreign == nil:
			r.fail("%s is missing", m.name)
		}
		if r.err != nil {
			return nil, r.err
		}
	}
	if details := r.details(); details != nil {
		r.add(candor.WithDetails(details))
	}
	inferred := r.by.Inferred || r.foreign != nil
	return candor.New(r.code, r.message, append(r.options, candor.WithCallInfo(r.context), candor.WithOrigin(r.by.By, inferred))...), nil
}

// details returns the details together with the data that this version has no member for: unknown members, and a code that is not
// registered.
func (r *canonicalReader) details() json.RawMessage {
	r.keepInner("origin", "by", "inferred")
	r.keepInner("cause", "message", "code", "name")
	details := r.values["details"]
	if !r.unknown.empty() {
		details = joined(details, r.unknown.value())
	}
	if r.foreign == nil {
		return details.Raw()
	}
	if details.Present() && !details.IsNull() && details.Type() != wire.TypeObject {
		details = object{}.raw(valueMember, details.Raw()).value()
	}
	out := object{}.raw("said", r.foreign.said(details.Path("said")))
	for name, value := range details.Members() {
		if !name.Is("said") {
			out = out.keep(name, value)
		}
	}
	return out.json()
}

// keepInner keeps the unknown members of a member that is an object.
func (r *canonicalReader) keepInner(name string, own ...string) {
	if more := without(r.values[name], own...); more.Len() > 0 {
		r.unknown = r.unknown.raw(name, more.Raw())
	}
}

func refuseCanonical(problem string, args ...any) error {
	return refuse("candor", canonicalHint, problem, args...)
}

func (r *canonicalReader) fail(problem string, args ...any) {
	r.err = refuseCanonical(problem, args...)
}

func (r *canonicalReader) add(o candor.Option) { r.options = append(r.options, o) }

// text returns a string member and fails for any other type.
func (r *canonicalReader) text(name string, v wire.Value) string {
	s, ok := v.Str()
	if !ok {
		r.fail("%s is of type %s, not a string", name, v.Type())
	}
	return s
}

// readCode finds the code. A code that is not registered is replaced by its class, unless the reader is strict.
func (r *canonicalReader) readCode(v wire.Value) {
	symbol, domain := r.text("code", v), ""
	if said, ok := r.values["domain"]; ok {
		domain = r.text("domain", said)
	}
	if r.err != nil {
		return
	}
	c, ok := candor.LookupCode(domain, symbol)
	switch {
	case ok && c.Symbol() == symbol:
		r.code = c
	case r.strict:
		r.fail("code %.64q is not registered in domain %.64q", symbol, domain)
	case !isSymbol(symbol), domain != "" && !isName(domain):
		r.fail("code %.64q in domain %.64q is not a symbol in a domain", symbol, domain)
	default:
		r.foreign = &foreignCode{symbol: symbol, domain: domain}
	}
}

func (r *canonicalReader) readClass(v wire.Value) {
	class := r.text("class", v)
	switch {
	case r.err != nil:
	case r.foreign != nil && !isName(class):
		r.fail("class %.64q is not a word", class)
	case r.foreign != nil:
		r.code = classCode(candor.Class(class))
		if !candor.Class(class).Valid() {
			r.foreign.class = v
		}
	case candor.Class(class) != r.code.Class():
		r.fail("class %.64q is not that of %s, which is %s", class, r.code, r.code.Class())
	}
}

func (r *canonicalReader) readNumber(v wire.Value) {
	n, ok := v.Int64()
	switch {
	case r.foreign != nil && !ok:
		r.fail("number %.24s is not an integer", v.Raw())
	case r.foreign != nil:
		r.foreign.number = v
	case !ok || n != int64(r.code.Number()):
		r.fail("number %.24s is not that of %s, which is %d", v.Raw(), r.code, r.code.Number())
	}
}

func (r *canonicalReader) readMessage(v wire.Value) {
	if r.message = r.text("message", v); r.err == nil && r.message == "" {
		r.fail("message is empty")
	}
}

func (r *canonicalReader) readRetry(v wire.Value) {
	retry, err := parseRetry(v)
	if err != nil {
		r.fail("%v", err)
	}
	r.add(candor.WithRetry(retry))
}

func (r *canonicalReader) readSuggestion(v wire.Value) {
	r.add(candor.WithSuggestion(r.text("suggestion", v)))
}

func (r *canonicalReader) readOrigin(v wire.Value) {
	by, _ := v.Path("by").Str()
	inferred, ok := v.Path("inferred").Bool()
	if party := candor.Party(by); party.Valid() && ok {
		r.by = candor.Origin{By: party, Inferred: inferred}
		return
	}
	r.fail("origin is not {by, inferred} with a known party")
}

func (r *canonicalReader) readRef(v wire.Value) { r.add(candor.WithRef(r.text("ref", v))) }

func (r *canonicalReader) readStack(v wire.Value) { r.add(candor.WithStack(r.text("stack", v))) }

// context returns a reader for a string member that may be null.
func context(name string, field func(*candor.CallInfo) *string) func(*canonicalReader, wire.Value) {
	return func(r *canonicalReader, v wire.Value) {
		if !v.IsNull() {
			*field(&r.context) = r.text(name, v)
		}
	}
}

func (r *canonicalReader) readCause(v wire.Value) {
	if text, ok := v.Str(); ok {
		r.add(candor.WithCauseText(candor.Cause{Message: text}))
		return
	}
	c, ok := parseCause(v)
	if _, code := v.Get("code"); !ok || !code || !v.Path("name").Present() {
		r.fail("cause is neither a string nor {message, code, name}")
	}
	r.add(candor.WithCauseText(c))
}

func (r *canonicalReader) readTime(v wire.Value) {
	text := r.text("timestamp", v)
	at, err := timestamp.Parse(text)
	if r.err == nil && (err != nil || at.Format(candor.TimeLayout) != text) {
		r.fail("timestamp %.40q is not ISO 8601 in UTC with milliseconds", text)
	}
	r.add(candor.WithTime(at))
}
