package candor

import (
	"encoding/json"
	"iter"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/redact"
)

// safeWriter turns any Go value into bounded JSON. Every method is given the room it may use, in bytes, and keeps
// to it, closers and cut marks included; so the whole keeps to its bound without measuring afterwards. Room is handed
// out the same way for a value and for its own output, which makes the result a fixed point.
//
// This file writes JSON; safereflect.go walks over Go values and saferaw.go over JSON text.
type safeWriter struct {
	out   []byte
	depth int
	path  map[visit]bool // what stands open above the current value

	issues bool // inside details.issues
	asPath bool // the value is the path of an issue
}

// field is a member of an object. Its value may be a reflect.Value, which stands for the value in it.
type field struct {
	name  string
	value any
}

// object is a JSON object with an order, for callers inside the package.
type object []field

// The marks of things that were cut. Their sizes are what every container keeps in reserve.
const (
	cutElement = `"…"`
	cutMember  = `"…":true`
	leastRoom  = len(cutElement)
)

func appendSafe(dst []byte, v any) []byte {
	w := safeWriter{out: dst}
	w.any(v, MaxDetails)
	return w.out
}

// any dispatches on the types that need no reflection, then on kinds.
func (w *safeWriter) any(v any, room int) {
	switch v := v.(type) {
	case nil:
		w.literal("null", room)
	case string:
		w.text(v, room)
	case bool:
		w.literal(strconv.FormatBool(v), room)
	case json.Number:
		w.number(string(v), room)
	case validJSON:
		w.raw(v, room)
	case json.RawMessage:
		w.foreign(v, room)
	case Details:
		w.raw(validJSON(v.json), room)
	case object:
		w.object(slices.Values(v), room)
	case error:
		w.text(textOf(v), room)
	default:
		w.reflected(reflect.ValueOf(v), room)
	}
}

// element writes what a container of this package holds.
func (w *safeWriter) element(v any, room int) {
	if r, ok := v.(reflect.Value); ok {
		w.reflectedElement(r, room)
		return
	}
	w.any(v, room)
}

func (w *safeWriter) literal(s string, room int) {
	if len(s) > room {
		s = cutElement
	}
	w.out = append(w.out, s...)
}

// text writes a redacted string whose encoded form fits the room.
func (w *safeWriter) text(s string, room int) {
	if w.asPath && strings.HasPrefix(s, "/") {
		w.out = jsontext.AppendString(w.out, fitPointer(s, room))
		return
	}
	w.out = jsontext.AppendString(w.out, fitText(s, MaxText, room))
}

// number keeps the spelling; one of absurd length, or none at all, is a text.
func (w *safeWriter) number(s string, room int) {
	if len(s) > 64 || !isNumber(s) {
		w.text(s, room)
		return
	}
	w.literal(s, room)
}

// isNumber is exact: a json.Number holds whatever its maker put in, and what is taken for a number is not redacted.
func isNumber(s string) bool {
	digit := func(c byte) bool { return '0' <= c && c <= '9' }
	return s != "" && (s[0] == '-' || digit(s[0])) && digit(s[len(s)-1]) && json.Valid([]byte(s))
}

func (w *safeWriter) float(f float64, bits, room int) {
	switch {
	case math.IsNaN(f):
		w.text("NaN", room)
	case math.IsInf(f, 1):
		w.text("Infinity", room)
	case math.IsInf(f, -1):
		w.text("-Infinity", room)
	default:
		w.literal(strconv.FormatFloat(f, 'g', -1, bits), room)
	}
}

// array writes elements until they end or the room does.
func (w *safeWriter) array(elements iter.Seq[any], room int) {
	if !w.enter(room) {
		return
	}
	start, n := len(w.out), 0
	w.out = append(w.out, '[')
	for v := range elements {
		if n > 0 {
			w.out = append(w.out, ',')
		}
		left := room - (len(w.out) - start) - len(`,]`) - len(cutElement)
		if n == MaxItems || left < leastRoom {
			w.out = append(w.out, cutElement...)
			break
		}
		w.element(v, left)
		n++
	}
	w.out = append(w.out, ']')
	w.depth--
}

// object writes members until they end or the room does. Of two members with one name the first counts.
func (w *safeWriter) object(fields iter.Seq[field], room int) {
	if !w.enter(room) {
		return
	}
	start := len(w.out)
	seen := make(map[string]bool)
	w.out = append(w.out, '{')
	for f := range fields {
		name := publicText(f.name, MaxKey)
		if seen[name] {
			continue
		}
		comma := min(len(seen), 1)
		head := comma + jsontext.EncodedLen(name) + len(`:`)
		left := room - (len(w.out) - start) - head - len(`,}`) - len(cutMember)
		if len(seen) == MaxItems || left < leastRoom {
			if !seen[cutMark] { // a member that happens to have this name keeps it
				w.out = append(append(w.out, `,`[:comma]...), cutMember...)
			}
			break
		}
		seen[name] = true
		w.out = append(jsontext.AppendString(append(w.out, `,`[:comma]...), name), ':')
		w.member(f, name, left)
	}
	w.out = append(w.out, '}')
	w.depth--
}

// member writes one value. If its name, in full or as it is written, says that it holds a secret, the value
// is not even looked at.
func (w *safeWriter) member(f field, written string, room int) {
	if (redact.Key(f.name) || redact.Key(written)) && maySecret(f.value) {
		w.text(redact.Placeholder, room)
		return
	}
	// An issue's path is a JSON Pointer into the arguments: /tmp/x names an argument there, and no file.
	issues, asPath := w.issues, w.asPath
	w.issues = issues || written == "issues" && w.depth == 1
	w.asPath = issues && written == "path" && w.depth == 3
	w.element(f.value, room)
	w.issues, w.asPath = issues, asPath
}

// maySecret is false for null, true and false, which are never the secret itself.
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

// enter opens a container, or writes the cut mark where it may not go deeper.
func (w *safeWriter) enter(room int) bool {
	if w.depth == MaxDepth || room < len(`{}`)+len(cutMember) {
		w.literal(cutElement, room)
		return false
	}
	w.depth++
	return true
}
