package candor

import (
	"encoding/json"
	"iter"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/redact"
)

// safeWriter writes any Go value as bounded JSON. Every method writes at most its budget in bytes, including closing brackets and
// cut marks. A value and the JSON written for it get the same budgets, so writing that JSON again gives the same bytes.
//
// reflect.go has the methods for Go values that need reflection.
type safeWriter struct {
	out   []byte
	depth int
	path  map[visit]bool // the values that contain the current one

	issues bool // inside details.issues
	asPath bool // the value is the path of an issue
}

// field is a member of an object. Its value may be a reflect.Value that holds the value.
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
	w.any(v, MaxDetails)
	return w.out
}

// any writes the types that need no reflection directly, and the others by kind.
func (w *safeWriter) any(v any, budget int) {
	switch v := v.(type) {
	case nil:
		w.literal("null", budget)
	case string:
		w.text(v, budget)
	case bool:
		w.literal(strconv.FormatBool(v), budget)
	case json.Number:
		w.number(string(v), budget)
	case validJSON:
		w.raw(v, budget)
	case json.RawMessage:
		w.foreign(v, budget)
	case Details:
		w.raw(validJSON(v.json), budget)
	case object:
		w.object(slices.Values(v), budget)
	case []Issue: // common enough to avoid reflection
		w.array(issueElements(v), budget)
	case *Issue:
		w.object(v.fields(), budget)
	case map[string]any: // like the next, decoded JSON
		w.mapping(reflect.ValueOf(v), budget, func() object { return sortedFields(v) })
	case []any:
		w.slice(reflect.ValueOf(v), budget, slices.Values(v))
	case error:
		w.text(textOf(v), budget)
	default:
		w.reflected(reflect.ValueOf(v), budget)
	}
}

// element writes one value of a container: a reflect.Value, or anything that [safeWriter.any] takes.
func (w *safeWriter) element(v any, budget int) {
	if r, ok := v.(reflect.Value); ok {
		w.reflectedElement(r, budget)
		return
	}
	w.any(v, budget)
}

func (w *safeWriter) literal(s string, budget int) {
	if len(s) > budget {
		s = cutElement
	}
	w.out = append(w.out, s...)
}

// text writes a redacted string whose encoded form fits the budget.
func (w *safeWriter) text(s string, budget int) {
	if w.asPath && strings.HasPrefix(s, "/") {
		w.out = jsontext.AppendString(w.out, fitPointer(s, budget))
		return
	}
	w.out = jsontext.AppendString(w.out, fitText(s, MaxText, budget))
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

func (w *safeWriter) float(f float64, bits, budget int) {
	switch {
	case math.IsNaN(f):
		w.text("NaN", budget)
	case math.IsInf(f, 1):
		w.text("Infinity", budget)
	case math.IsInf(f, -1):
		w.text("-Infinity", budget)
	default:
		w.literal(strconv.FormatFloat(f, 'g', -1, bits), budget)
	}
}

// array writes elements until they end or the budget is used up.
func (w *safeWriter) array(elements iter.Seq[any], budget int) {
	if !w.enter(budget) {
		return
	}
	start, n := len(w.out), 0
	w.out = append(w.out, '[')
	for v := range elements {
		if n > 0 {
			w.out = append(w.out, ',')
		}
		left := budget - (len(w.out) - start) - len(`,]`) - len(cutElement)
		if n == MaxItems || left < minBudget {
			w.out = append(w.out, cutElement...)
			break
		}
		w.element(v, left)
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
	start := len(w.out)
	var space [8]string
	seen := space[:0] // names written; at most MaxItems
	w.out = append(w.out, '{')
	for f := range fields {
		name := publicText(f.name, MaxKey)
		if slices.Contains(seen, name) {
			continue
		}
		comma := min(len(seen), 1)
		head := comma + jsontext.EncodedLen(name) + len(`:`)
		left := budget - (len(w.out) - start) - head - len(`,}`) - len(cutMember)
		if len(seen) == MaxItems || left < minBudget {
			if !slices.Contains(seen, cutMark) { // unless a member has this name
				w.out = append(append(w.out, `,`[:comma]...), cutMember...)
			}
			break
		}
		seen = append(seen, name)
		w.out = append(jsontext.AppendString(append(w.out, `,`[:comma]...), name), ':')
		w.member(f, name, left)
	}
	w.out = append(w.out, '}')
	w.depth--
}

// member writes one value. If its name, in full or as it is written, names a secret, the value is not read.
func (w *safeWriter) member(f field, written string, budget int) {
	if (redact.Key(f.name) || redact.Key(written)) && maySecret(f.value) {
		w.text(redact.Placeholder, budget)
		return
	}
	// An issue's path is a JSON Pointer into the arguments: /tmp/x names an argument there, not a file.
	issues, asPath := w.issues, w.asPath
	w.issues = issues || written == "issues" && w.depth == 1
	w.asPath = issues && written == "path" && w.depth == 3
	w.element(f.value, budget)
	w.issues, w.asPath = issues, asPath
}

// maySecret returns false for null, true and false, which cannot be secrets.
func maySecret(v any) bool {
	switch v := v.(type) {
	case nil, bool:
		return false
	case validJSON:
		return v != "null" && v != "true" && v != "false"
	case reflect.Value:
		for v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		switch v.Kind() {
		case reflect.Invalid, reflect.Bool:
			return false
		case reflect.Pointer, reflect.Map, reflect.Slice:
			return !v.IsNil()
		default:
			return true
		}
	default:
		return true
	}
}

// enter opens a container, or writes the cut mark if the depth or the budget does not allow one.
func (w *safeWriter) enter(budget int) bool {
	if w.depth == MaxDepth || budget < len(`{}`)+len(cutMember) {
		w.literal(cutElement, budget)
		return false
	}
	w.depth++
	return true
}

// validJSON is text that is known to be one JSON value.
type validJSON string

// foreign writes JSON text that may be invalid. Invalid text is replaced as a whole, because its readable part would look
// complete.
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

// elements yields the elements of an array. Other values have no elements.
func (t validJSON) elements() iter.Seq[any] {
	return func(yield func(any) bool) {
		if t = t.trimmed(); t == "" || t[0] != '[' {
			return
		}
		for rest := t[1:].trimmed(); rest[0] != ']'; {
			n := rest.valueLen()
			if !yield(rest[:n]) {
				return
			}
			rest = rest[n:].afterComma()
		}
	}
}

// fields yields the members of an object, in order. Other values have no members.
func (t validJSON) fields() iter.Seq[field] {
	return func(yield func(field) bool) {
		if t = t.trimmed(); t == "" || t[0] != '{' {
			return
		}
		for rest := t[1:].trimmed(); rest[0] != '}'; {
			n := rest.valueLen()
			name := rest[:n].str()
			rest = rest[n:].trimmed()[len(`:`):].trimmed()
			n = rest.valueLen()
			if !yield(field{name, rest[:n]}) {
				return
			}
			rest = rest[n:].afterComma()
		}
	}
}

func (t validJSON) trimmed() validJSON { return validJSON(strings.Trim(string(t), " \t\r\n")) }

// afterComma returns the text after an element: the next element, or the closing bracket of the container.
func (t validJSON) afterComma() validJSON {
	t = t.trimmed()
	if t[0] == ',' {
		return t[1:].trimmed()
	}
	return t
}

// valueLen returns the length of the value at the start of the text.
func (t validJSON) valueLen() int {
	switch t[0] {
	case '"':
		return t.stringLen()
	case '[', '{':
	default:
		if n := strings.IndexAny(string(t), ",]} \t\r\n"); n >= 0 {
			return n
		}
		return len(t)
	}
	depth := 0
	for i := 0; i < len(t); i++ {
		switch t[i] {
		case '"':
			i += t[i:].stringLen() - 1
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(t)
}

func (t validJSON) stringLen() int {
	for i := 1; i < len(t); i++ {
		switch t[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(t)
}

// str decodes a string.
func (t validJSON) str() string {
	inside := string(t[1 : len(t)-1])
	if strings.IndexByte(inside, '\\') < 0 && utf8.ValidString(inside) {
		return inside
	}
	var s string
	if json.Unmarshal([]byte(t), &s) != nil {
		return ""
	}
	return s
}
