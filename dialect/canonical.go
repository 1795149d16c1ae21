package dialect

import (
	"encoding/json"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

const canonicalHint = "the written form is spec/schema/error.schema.json"

// ReadCandor reads the canonical JSON of an error, the value under [MetaKey]. It is strict in what it knows: a code that is not
// registered, a class, domain or number other than the catalogue's and retry advice outside the closed set are
// refused with an error that names them. Members that it does not know are ignored, so that a later contract may
// add some. A missing ref is read as "".
//
// For every error made by a constructor it returns the same error that was written, less what the writer chose not to show.
func ReadCandor(v wire.Value) (*candor.Error, error) {
	if v.Type() != wire.TypeObject {
		return nil, refuseCanonical("an object is wanted, this is of type %s", v.Type())
	}
	r := canonicalReader{values: make(map[string]wire.Value, len(canonicalReaders))}
	for name, value := range v.Members() {
		key, _ := name.Str()
		r.values[key] = value
	}
	return r.read()
}

// canonicalReader turns members into options. The first thing that is wrong stays in err.
type canonicalReader struct {
	values  map[string]wire.Value
	code    candor.Code
	message string
	context candor.Context
	options []candor.Option
	err     error
}

// canonicalReaders is the table of members, in the order they are judged.
var canonicalReaders = []struct {
	name     string
	required bool
	read     func(*canonicalReader, wire.Value)
}{
	{"domain", true, func(*canonicalReader, wire.Value) {}}, // judged with code
	{"code", true, (*canonicalReader).readCode},
	{"class", true, (*canonicalReader).readClass},
	{"number", true, (*canonicalReader).readNumber},
	{"message", true, (*canonicalReader).readMessage},
	{"retry", true, (*canonicalReader).readRetry},
	{"suggestion", false, (*canonicalReader).readSuggestion},
	{"details", false, (*canonicalReader).readDetails},
	{"origin", true, (*canonicalReader).readOrigin},
	{"ref", false, (*canonicalReader).readRef},
	{"tool", false, context("tool", func(c *candor.Context) *string { return &c.Tool })},
	{"role", false, context("role", func(c *candor.Context) *string { return &c.Role })},
	{"session_id", false, context("session_id", func(c *candor.Context) *string { return &c.SessionID })},
	{"workspace_root", false, context("workspace_root", func(c *candor.Context) *string { return &c.WorkspaceRoot })},
	{"invariant_id", false, context("invariant_id", func(c *candor.Context) *string { return &c.InvariantID })},
	{"phase_id", false, context("phase_id", func(c *candor.Context) *string { return &c.PhaseID })},
	{"plan_hash", false, context("plan_hash", func(c *candor.Context) *string { return &c.PlanHash })},
	{"cause", false, (*canonicalReader).readCause},
	{"timestamp", false, (*canonicalReader).readTime},
	{"stack", false, (*canonicalReader).readStack},
}

func (r *canonicalReader) read() (*candor.Error, error) {
	for _, m := range canonicalReaders {
		value, ok := r.values[m.name]
		if ok {
			m.read(r, value)
		} else if m.required {
			r.fail("%s is missing", m.name)
		}
		if r.err != nil {
			return nil, r.err
		}
	}
	return candor.New(r.code, r.message, append(r.options, candor.WithContext(r.context))...), nil
}

func refuseCanonical(problem string, args ...any) error {
	return refuse("candor", canonicalHint, problem, args...)
}

func (r *canonicalReader) fail(problem string, args ...any) {
	r.err = refuseCanonical(problem, args...)
}

func (r *canonicalReader) add(o candor.Option) { r.options = append(r.options, o) }

// text returns a string member; anything else is a failure.
func (r *canonicalReader) text(name string, v wire.Value) string {
	s, ok := v.Str()
	if !ok {
		r.fail("%s is of type %s, not a string", name, v.Type())
	}
	return s
}

func (r *canonicalReader) readCode(v wire.Value) {
	symbol, domain := r.text("code", v), r.text("domain", r.values["domain"])
	c, ok := candor.LookupCode(domain, symbol)
	if r.err == nil && (!ok || c.Symbol() != symbol) {
		r.fail("code %.64q is not registered in domain %.64q", symbol, domain)
	}
	r.code = c
}

func (r *canonicalReader) readClass(v wire.Value) {
	if class := r.text("class", v); r.err == nil && candor.Class(class) != r.code.Class() {
		r.fail("class %.64q is not that of %s, which is %s", class, r.code, r.code.Class())
	}
}

func (r *canonicalReader) readNumber(v wire.Value) {
	if n, ok := v.Int64(); !ok || n != int64(r.code.Number()) {
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

func (r *canonicalReader) readDetails(v wire.Value) {
	r.add(candor.WithDetails(json.RawMessage(v.Raw())))
}

func (r *canonicalReader) readOrigin(v wire.Value) {
	by, _ := v.Path("by").Str()
	inferred, ok := v.Path("inferred").Bool()
	if party := candor.Party(by); party.Valid() && ok {
		r.add(candor.WithOrigin(party, inferred))
		return
	}
	r.fail("origin is not {by, inferred} with a known party")
}

func (r *canonicalReader) readRef(v wire.Value) { r.add(candor.WithRef(r.text("ref", v))) }

func (r *canonicalReader) readStack(v wire.Value) { r.add(candor.WithStack(r.text("stack", v))) }

// context reads a text that may be null.
func context(name string, field func(*candor.Context) *string) func(*canonicalReader, wire.Value) {
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
	at, err := candor.ParseTime(text)
	if r.err == nil && (err != nil || at.Format(candor.TimeLayout) != text) {
		r.fail("timestamp %.40q is not ISO 8601 in UTC with milliseconds", text)
	}
	r.add(candor.WithTime(at))
}
