package candor

import (
	"encoding/json"
	"errors"
	"iter"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/limits"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/internal/truncate"
)

// Details is the structured part of an error: valid JSON, redacted, and bounded by [MaxDetails], [MaxDepth],
// [limits.Items] and [MaxText]. It is immutable and comparable; the zero Details is empty.
type Details struct {
	json string
}

// DetailsOf copies v into safe JSON, as encoding/json writes it. A nil value, also a typed one, gives the zero Details.
// A value that cannot be encoded becomes "[unencodable]" or "[cycle]"; parts that do not fit are cut and marked "…".
func DetailsOf(v any) Details {
	if d, ok := v.(Details); ok {
		return d
	}
	out := appendSafe(nil, v)
	if string(out) == "null" {
		return Details{}
	}
	return Details{json: string(out)}
}

// IsZero reports whether the details are empty.
func (d Details) IsZero() bool { return d.json == "" }

// String returns the JSON text, or "" if the details are empty.
func (d Details) String() string { return d.json }

// MarshalJSON returns the JSON text, or null.
func (d Details) MarshalJSON() ([]byte, error) {
	if d.IsZero() {
		return []byte("null"), nil
	}
	return []byte(d.json), nil
}

// UnmarshalJSON copies JSON text, keeping the order of members and the spelling of numbers.
func (d *Details) UnmarshalJSON(raw []byte) error {
	if !json.Valid(raw) {
		return errors.New("details: not one JSON value")
	}
	*d = DetailsOf(json.RawMessage(raw))
	return nil
}

// Decode unmarshals the details into v. Without details it does nothing.
func (d Details) Decode(v any) error {
	if d.IsZero() {
		return nil
	}
	return json.Unmarshal([]byte(d.json), v)
}

// Get returns the member of that name, or the zero Details.
func (d Details) Get(name string) Details {
	for f := range validJSON(d.json).fields() {
		if v, ok := f.value.(validJSON); ok && f.name == name {
			return Details{json: string(v)}
		}
	}
	return Details{}
}

// With returns a copy with one member set. Details that are not an object are kept under "value". The new member comes
// first, so that it is kept if the details have to be cut.
func (d Details) With(name string, v any) Details {
	out := object{{name: name, value: v}}
	if d.IsZero() {
		return DetailsOf(out)
	}
	if d.json[0] != '{' {
		return DetailsOf(append(out, field{name: "value", value: d}))
	}
	for f := range validJSON(d.json).fields() {
		if f.name != name {
			out = append(out, f)
		}
	}
	return DetailsOf(out)
}

// Issues returns details.issues, or nil if it is missing or cannot be decoded.
func (d Details) Issues() []Issue {
	var holder struct {
		Issues []Issue `json:"issues"`
	}
	if d.IsZero() || d.json[0] != '{' || d.Decode(&holder) != nil {
		return nil
	}
	return holder.Issues
}

// Issue is one fault in the arguments of a call.
type Issue struct {
	// Path is the JSON Pointer of the argument; "" means the arguments as a whole. A missing or unknown key is named by
	// its own pointer.
	Path string `json:"path"`
	// Rule is the schema keyword or the name of the check that failed.
	Rule string `json:"rule,omitempty"`
	// Message is one sentence.
	Message string `json:"message,omitempty"`
	// Expected is the part of the schema that was not met.
	Expected any `json:"expected,omitempty"`
	// Got is the type that was received, never the value.
	Got string `json:"got,omitempty"`
	// Hint says how to fix the argument, such as the name that was probably meant.
	Hint string `json:"hint,omitempty"`
	// Example is a value that passes.
	Example any `json:"example,omitempty"`
}

// safeWriter writes any Go value as bounded JSON. Every method writes at most its budget in bytes, including closing brackets and
// cut marks. A value and the JSON written for it get the same budgets, so writing that JSON again gives the same bytes.
type safeWriter struct {
	out   []byte
	depth int
	open  []uintptr // the maps and slices that contain the current value

	issues bool // inside details.issues
	asPath bool // the value is the path of an issue
	secret bool // the path of the current issue names a secret
}

// field is a member of an object.
type field struct {
	name  string
	value any
}

// object is an ordered JSON object, for callers inside the package.
type object []field

// The marks for parts that were cut. Every container reserves space for one.
const (
	cutElement = `"…"`
	cutMember  = `"…":true`
	minBudget  = len(cutElement)
)

func appendSafe(dst []byte, v any) []byte {
	w := safeWriter{out: dst}
	w.any(v, limits.Details)
	return w.out
}

// any writes a value. Types other than those of decoded JSON are first encoded by encoding/json.
func (w *safeWriter) any(v any, budget int) {
	switch v := v.(type) {
	case nil:
		w.literal("null", budget)
	case string:
		w.text(v, budget)
	case bool:
		w.literal(strconv.FormatBool(v), budget)
	case int:
		w.literal(strconv.Itoa(v), budget)
	case int64:
		w.literal(strconv.FormatInt(v, 10), budget)
	case float64:
		w.float(v, budget)
	case json.RawMessage:
		w.foreign(v, budget)
	case validJSON:
		w.raw(v, budget)
	case Details:
		w.raw(validJSON(v.json), budget)
	case object:
		w.object(slices.Values(v), budget)
	case map[string]any:
		w.container(reflect.ValueOf(v), budget, func() { w.object(slices.Values(sortedFields(v)), budget) })
	case []any:
		w.container(reflect.ValueOf(v), budget, func() { w.array(slices.Values(v), budget) })
	case error:
		w.text(textOf(v), budget)
	default:
		w.encoded(v, budget)
	}
}

// container writes a map or slice that may contain itself.
func (w *safeWriter) container(r reflect.Value, budget int, write func()) {
	switch at := r.Pointer(); {
	case r.IsNil():
		w.literal("null", budget)
	case r.Len() > 0 && slices.Contains(w.open, at): // empty slices share one address
		w.text("[cycle]", budget)
	default:
		w.open = append(w.open, at)
		write()
		w.open = w.open[:len(w.open)-1]
	}
}

func sortedFields(m map[string]any) object {
	fields := make(object, 0, len(m))
	for name, value := range m {
		fields = append(fields, field{name, value})
	}
	slices.SortFunc(fields, func(f, g field) int { return strings.Compare(f.name, g.name) })
	return fields
}

// encoded writes a value as encoding/json encodes it.
func (w *safeWriter) encoded(v any, budget int) {
	raw, ok := callMarshal(func() ([]byte, error) { return json.Marshal(v) })
	if !ok {
		w.text(unencodable, budget)
		return
	}
	w.raw(validJSON(raw), budget)
}

// callMarshal calls a marshaling function. ok is false if it returned an error, or if the method of a foreign type panicked.
func callMarshal(marshal func() ([]byte, error)) (text []byte, ok bool) {
	var err error
	returned := guard(func() { text, err = marshal() })
	return text, returned && err == nil
}

func (w *safeWriter) literal(s string, budget int) {
	if len(s) > budget {
		s = cutElement
	}
	w.out = append(w.out, s...)
}

// text writes a redacted string; its encoded form fits the budget.
func (w *safeWriter) text(s string, budget int) {
	if w.asPath && strings.HasPrefix(s, "/") {
		w.out = jsontext.AppendString(w.out, fitPointer(s, budget))
		return
	}
	w.out = jsontext.AppendString(w.out, fitText(s, limits.Text, budget))
}

// number writes a number in its original spelling. Text that is not a number, or is very long, is written as a string.
func (w *safeWriter) number(s string, budget int) {
	if len(s) > 64 || !isNumber(s) {
		w.text(s, budget)
		return
	}
	w.literal(s, budget)
}

// isNumber reports whether s is exactly a JSON number. A json.Number may hold any text, and numbers are not redacted.
func isNumber(s string) bool {
	digit := func(c byte) bool { return '0' <= c && c <= '9' }
	return s != "" && (s[0] == '-' || digit(s[0])) && digit(s[len(s)-1]) && json.Valid([]byte(s))
}

// float writes a number, or the name of NaN or an infinity.
func (w *safeWriter) float(f float64, budget int) {
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		w.text(text, budget)
		return
	}
	w.literal(text, budget)
}

// array writes elements until they end or the budget is used up.
func (w *safeWriter) array(elements iter.Seq[any], budget int) {
	if !w.enter(budget) {
		return
	}
	start, n, before := len(w.out), 0, ""
	w.out = append(w.out, '[')
	for v := range elements {
		text, isText := textIn(v)
		if isText && redact.Flag(before) {
			v = redact.Placeholder
		}
		before = text
		if n > 0 {
			w.out = append(w.out, ',')
		}
		left := budget - (len(w.out) - start) - len(`,]`) - len(cutElement)
		if n == limits.Items || left < minBudget {
			w.out = append(w.out, cutElement...)
			break
		}
		w.any(v, left)
		n++
	}
	w.out = append(w.out, ']')
	w.depth--
}

// object writes members until they end or the budget is used up. If two members have the same name, it writes the first.
func (w *safeWriter) object(fields iter.Seq[field], budget int) {
	if !w.enter(budget) {
		return
	}
	if w.issues && w.depth == 3 {
		w.secret = isSecretPath(fields)
	}
	labelled := !w.issues && hasSecretLabel(fields)
	start := len(w.out)
	var space [8]string
	seen := space[:0] // names written; at most limits.Items
	w.out = append(w.out, '{')
	for f := range fields {
		name := publicText(f.name, limits.Key)
		if slices.Contains(seen, name) {
			continue
		}
		comma := min(len(seen), 1)
		head := comma + jsontext.EncodedLen(name) + len(`:`)
		left := budget - (len(w.out) - start) - head - len(`,}`) - len(cutMember)
		if len(seen) == limits.Items || left < minBudget {
			if !slices.Contains(seen, truncate.Mark) { // unless a member has this name
				w.out = append(append(w.out, `,`[:comma]...), cutMember...)
			}
			break
		}
		seen = append(seen, name)
		w.out = append(jsontext.AppendString(append(w.out, `,`[:comma]...), name), ':')
		if labelled && redact.Labelled(f.name) && maySecret(f.value) {
			f.value = redact.Placeholder
		}
		w.member(f, name, left)
	}
	w.out = append(w.out, '}')
	w.depth--
}

// member writes one value. If its name, in full or as it is written, names a secret, the value is not read.
func (w *safeWriter) member(f field, written string, budget int) {
	inIssue := w.issues && w.depth == 3
	if (redact.Key(f.name) || redact.Key(written) || inIssue && w.secret && written == "example") && maySecret(f.value) {
		w.text(redact.Placeholder, budget)
		return
	}
	// An issue's path is a JSON Pointer into the arguments: /tmp/x names an argument there, not a file.
	issues, asPath := w.issues, w.asPath
	w.issues = issues || written == "issues" && w.depth == 1
	w.asPath = inIssue && written == "path"
	w.any(f.value, budget)
	w.issues, w.asPath = issues, asPath
}

// isSecretPath reports whether the path in an issue ends in a name that means a secret.
func isSecretPath(issue iter.Seq[field]) bool {
	for f := range issue {
		if f.name != "path" {
			continue
		}
		path, _ := textIn(f.value)
		return redact.Key(path[strings.LastIndexByte(path, '/')+1:])
	}
	return false
}

// hasSecretLabel reports whether a member names a secret that another member holds.
func hasSecretLabel(fields iter.Seq[field]) bool {
	for f := range fields {
		if redact.Labels(f.name) {
			if text, ok := textIn(f.value); ok && redact.Label(text) {
				return true
			}
		}
	}
	return false
}

// textIn returns a value that is a text.
func textIn(v any) (string, bool) {
	if v, ok := v.(validJSON); ok {
		if v = v.trimmed(); strings.HasPrefix(string(v), `"`) {
			return v.str(), true
		}
		return "", false
	}
	text, ok := v.(string)
	return text, ok
}

// maySecret returns false for null, true and false, which cannot be secrets.
func maySecret(v any) bool {
	switch v := v.(type) {
	case nil, bool:
		return false
	case validJSON:
		return v != "null" && v != "true" && v != "false"
	default:
		return true
	}
}

// enter opens a container, or writes the cut mark if the depth or the budget does not allow one.
func (w *safeWriter) enter(budget int) bool {
	if w.depth == limits.Depth || budget < len(`{}`)+len(cutMember) {
		w.literal(cutElement, budget)
		return false
	}
	w.depth++
	return true
}

// foreign writes JSON text that may be invalid. Invalid text is replaced as a whole, because its readable part would
// look complete.
func (w *safeWriter) foreign(text []byte, budget int) {
	switch {
	case len(text) == 0:
		w.literal("null", budget)
	case !json.Valid(text):
		w.text(unencodable, budget)
	default:
		w.raw(validJSON(text), budget)
	}
}

// raw rewrites JSON text within the limits. It decodes only the parts that are kept.
func (w *safeWriter) raw(text validJSON, budget int) {
	text = text.trimmed()
	if text == "" {
		w.literal("null", budget)
		return
	}
	switch text[0] {
	case '[':
		w.array(text.elements(), budget)
	case '{':
		w.object(text.fields(), budget)
	case '"':
		w.text(text.str(), budget)
	case 't', 'f', 'n':
		w.literal(string(text), budget)
	default:
		w.number(string(text), budget)
	}
}
