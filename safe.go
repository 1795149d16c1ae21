package candor

import (
	"bytes"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"sort"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/redact"
)

// This file turns any Go value into bounded JSON. Every writer is given the room it may use, in bytes, and keeps
// to it, closers and cut marks included; so the whole keeps to its bound without measuring afterwards. Room is handed
// out the same way for a value and for its own output, which makes the result a fixed point.

// object is a JSON object with an order, for callers inside the package.
type object []field

type field struct {
	name  string
	value any
}

// The marks of things that were cut. Their sizes are what every container keeps in reserve.
const (
	cutElement = `"…"`
	cutMember  = `"…":true`
	leastRoom  = len(cutElement)
)

type safeWriter struct {
	out   []byte
	depth int
	path  map[visit]bool // what stands open above the current value
}

type visit struct {
	at  uintptr
	typ reflect.Type
}

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
	case json.RawMessage:
		w.raw(v, room)
	case Details:
		w.raw(json.RawMessage(v.json), room)
	case object:
		w.object(v, room)
	case error:
		w.text(textOf(v), room)
	default:
		w.reflected(reflect.ValueOf(v), room)
	}
}

func (w *safeWriter) reflected(r reflect.Value, room int) {
	switch r.Kind() {
	case reflect.Invalid:
		w.literal("null", room)
	case reflect.Pointer, reflect.Interface:
		w.pointer(r, room)
	default:
		if !w.marshaled(r, room) {
			w.kind(r, room)
		}
	}
}

// marshaled lets types speak for themselves, as encoding/json does; what they say is parsed and bounded like the rest.
func (w *safeWriter) marshaled(r reflect.Value, room int) bool {
	if !r.CanInterface() {
		return false
	}
	switch v := r.Interface().(type) {
	case error:
		w.text(textOf(v), room)
	case json.Marshaler:
		raw, err := v.MarshalJSON()
		if err != nil {
			raw = []byte(`"[unencodable]"`)
		}
		w.raw(raw, room)
	case encoding.TextMarshaler:
		text, err := v.MarshalText()
		if err != nil {
			text = []byte("[unencodable]")
		}
		w.text(string(text), room)
	default:
		return false
	}
	return true
}

func (w *safeWriter) kind(r reflect.Value, room int) {
	switch r.Kind() {
	case reflect.Bool:
		w.literal(strconv.FormatBool(r.Bool()), room)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.literal(strconv.FormatInt(r.Int(), 10), room)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		w.literal(strconv.FormatUint(r.Uint(), 10), room)
	case reflect.Float32, reflect.Float64:
		w.float(r.Float(), r.Type().Bits(), room)
	case reflect.String:
		w.text(r.String(), room)
	case reflect.Slice, reflect.Array:
		w.sequence(r, room)
	case reflect.Map:
		w.guarded(r, room, func() { w.mapping(r, room) })
	case reflect.Struct:
		w.object(structFields(r, nil), room)
	default: // channels, functions, complex numbers, raw pointers
		w.text("["+r.Kind().String()+"]", room)
	}
}

func (w *safeWriter) pointer(r reflect.Value, room int) {
	if r.IsNil() {
		w.literal("null", room)
		return
	}
	if r.Kind() == reflect.Interface {
		w.reflected(r.Elem(), room)
		return
	}
	w.guarded(r, room, func() {
		if !w.marshaled(r, room) {
			w.reflected(r.Elem(), room)
		}
	})
}

// guarded writes a value that may contain itself.
func (w *safeWriter) guarded(r reflect.Value, room int, write func()) {
	v := visit{at: r.Pointer(), typ: r.Type()}
	if w.path[v] {
		w.text("[cycle]", room)
		return
	}
	if w.path == nil {
		w.path = make(map[visit]bool)
	}
	w.path[v] = true
	write()
	delete(w.path, v)
}

func (w *safeWriter) sequence(r reflect.Value, room int) {
	if r.Kind() == reflect.Slice && r.IsNil() {
		w.literal("null", room)
		return
	}
	if r.Kind() == reflect.Slice && r.Type().Elem().Kind() == reflect.Uint8 {
		w.text(base64.StdEncoding.EncodeToString(r.Bytes()[:min(r.Len(), MaxText)]), room)
		return
	}
	elements := func() {
		i := 0
		w.array(room, func() (func(int), bool) {
			if i == r.Len() {
				return nil, false
			}
			e := r.Index(i)
			i++
			return func(room int) { w.reflectedElement(e, room) }, true
		})
	}
	if r.Kind() == reflect.Slice && r.Len() > 0 {
		w.guarded(r, room, elements)
		return
	}
	elements()
}

// reflectedElement keeps the shortcuts of any for elements that can be taken out.
func (w *safeWriter) reflectedElement(r reflect.Value, room int) {
	if r.CanInterface() && r.Kind() != reflect.Pointer {
		w.any(r.Interface(), room)
		return
	}
	w.reflected(r, room)
}

func (w *safeWriter) mapping(r reflect.Value, room int) {
	if r.IsNil() {
		w.literal("null", room)
		return
	}
	fields := make(object, 0, r.Len())
	for it := r.MapRange(); it.Next(); {
		fields = append(fields, field{name: keyText(it.Key()), value: it.Value()})
	}
	sort.Slice(fields, func(a, b int) bool { return fields[a].name < fields[b].name })
	w.object(fields, room)
}

func keyText(k reflect.Value) string {
	if k.Kind() == reflect.String {
		return k.String()
	}
	if k.CanInterface() {
		if m, ok := k.Interface().(encoding.TextMarshaler); ok && !isNil(m) {
			if text, err := m.MarshalText(); err == nil {
				return string(text)
			}
		}
	}
	switch k.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(k.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return strconv.FormatUint(k.Uint(), 10)
	default:
		return "[" + k.Kind().String() + "]"
	}
}

// structFields lists the exported fields by their json names. Embedded structs without a name are inlined.
func structFields(r reflect.Value, out object) object {
	t := r.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case tag == "-" || (!f.IsExported() && !f.Anonymous):
			continue
		case f.Anonymous && tag == "" && f.Type.Kind() == reflect.Struct:
			out = structFields(r.Field(i), out)
			continue
		case !f.IsExported():
			continue
		case strings.Contains(options, "omitempty") && isEmpty(r.Field(i)),
			strings.Contains(options, "omitzero") && r.Field(i).IsZero():
			continue
		}
		out = append(out, field{name: firstText(tag, f.Name), value: r.Field(i)})
	}
	return out
}

func isEmpty(r reflect.Value) bool {
	switch r.Kind() {
	case reflect.Slice, reflect.Map, reflect.String, reflect.Array:
		return r.Len() == 0
	default:
		return r.IsZero()
	}
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

// number keeps the spelling; one of absurd length is a text.
func (w *safeWriter) number(s string, room int) {
	if len(s) > 64 || !json.Valid([]byte(s)) {
		w.text(s, room)
		return
	}
	w.literal(s, room)
}

func (w *safeWriter) literal(s string, room int) {
	if len(s) > room {
		s = cutElement
	}
	w.out = append(w.out, s...)
}

// text writes a redacted string whose encoded form fits the room.
func (w *safeWriter) text(s string, room int) {
	limit := min(MaxText, room-2)
	t := publicText(s, limit)
	for jsontext.EncodedLen(t) > room && limit > len(cutMark) {
		limit -= max(1, jsontext.EncodedLen(t)-room)
		t = publicText(t, limit)
	}
	if jsontext.EncodedLen(t) > room {
		t = cutMark
	}
	w.out = jsontext.AppendString(w.out, t)
}

// array writes elements until they end or the room does. next returns the writer of the next element.
func (w *safeWriter) array(room int, next func() (func(room int), bool)) {
	if !w.enter(room) {
		return
	}
	start := len(w.out)
	w.out = append(w.out, '[')
	for n := 0; ; n++ {
		write, more := next()
		if !more {
			break
		}
		if n > 0 {
			w.out = append(w.out, ',')
		}
		left := room - (len(w.out) - start) - len(`,]`) - len(cutElement)
		if n == MaxItems || left < leastRoom {
			w.out = append(w.out, cutElement...)
			break
		}
		write(left)
	}
	w.out = append(w.out, ']')
	w.depth--
}

func (w *safeWriter) object(fields object, room int) {
	if !w.enter(room) {
		return
	}
	start, n := len(w.out), 0
	seen := make(map[string]bool, min(len(fields), MaxItems))
	w.out = append(w.out, '{')
	for _, f := range fields {
		name := publicText(f.name, MaxKey)
		if seen[name] {
			continue
		}
		seen[name] = true
		if n > 0 {
			w.out = append(w.out, ',')
		}
		head := jsontext.EncodedLen(name) + len(`:`)
		left := room - (len(w.out) - start) - head - len(`,}`) - len(cutMember)
		if n == MaxItems || left < leastRoom {
			w.out = append(w.out, cutMember...)
			break
		}
		w.out = append(jsontext.AppendString(w.out, name), ':')
		w.member(name, f.value, left)
		n++
	}
	w.out = append(w.out, '}')
	w.depth--
}

// member writes one value; a member whose name says it holds a secret is not even looked at.
func (w *safeWriter) member(name string, v any, room int) {
	if redact.Key(name) && holdsText(v) {
		w.text(redact.Placeholder, room)
		return
	}
	if r, ok := v.(reflect.Value); ok {
		w.reflectedElement(r, room)
		return
	}
	w.any(v, room)
}

// holdsText is false for null, true and false, which are never the secret itself.
func holdsText(v any) bool {
	if r, ok := v.(reflect.Value); ok {
		return r.Kind() != reflect.Bool && !(r.Kind() == reflect.Interface && r.IsNil())
	}
	switch v := v.(type) {
	case nil, bool:
		return false
	case json.RawMessage:
		t := bytes.TrimSpace(v)
		return string(t) != "null" && string(t) != "true" && string(t) != "false"
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

// raw re-writes JSON text within the bounds. Only what is kept is decoded.
func (w *safeWriter) raw(raw json.RawMessage, room int) {
	if len(raw) == 0 {
		w.literal("null", room)
		return
	}
	dec := rawDecoder(raw)
	token, err := dec.Token()
	if err != nil {
		w.text("[unencodable]", room)
		return
	}
	switch token {
	case json.Delim('['):
		w.rawArray(dec, room)
	case json.Delim('{'):
		w.object(rawFields(dec), room)
	default:
		w.any(token, room)
	}
}

func (w *safeWriter) rawArray(dec *json.Decoder, room int) {
	w.array(room, func() (func(int), bool) {
		var e json.RawMessage
		if !dec.More() || dec.Decode(&e) != nil {
			return nil, false
		}
		return func(room int) { w.raw(e, room) }, true
	})
}

// rawFields reads one member more than will be written, so that the cut is seen.
func rawFields(dec *json.Decoder) object {
	var out object
	for dec.More() && len(out) <= MaxItems {
		name, err := dec.Token()
		var value json.RawMessage
		if err != nil || dec.Decode(&value) != nil {
			break
		}
		out = append(out, field{name: fmt.Sprint(name), value: value})
	}
	return out
}

func rawDecoder(raw []byte) *json.Decoder {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return dec
}
