package candor

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// visit identifies a value that is being written. It includes the type because a struct and its first field share an address.
type visit struct {
	at  uintptr
	typ reflect.Type
}

// maxOpen limits a chain of pointers, which does not add depth to the output.
const maxOpen = 8 * MaxDepth

func (w *safeWriter) reflected(r reflect.Value, budget int) {
	switch r.Kind() {
	case reflect.Invalid:
		w.literal("null", budget)
	case reflect.Pointer, reflect.Interface:
		w.pointer(r, budget)
	default:
		if !w.marshaled(r, budget) {
			w.kind(r, budget)
		}
	}
}

// reflectedElement writes an element by [safeWriter.any] if its value can be taken out of r, else by reflection.
func (w *safeWriter) reflectedElement(r reflect.Value, budget int) {
	if r.CanInterface() && r.Kind() != reflect.Pointer {
		w.any(r.Interface(), budget)
		return
	}
	w.reflected(r, budget)
}

func (w *safeWriter) pointer(r reflect.Value, budget int) {
	if r.IsNil() {
		w.literal("null", budget)
		return
	}
	if r.Kind() == reflect.Interface {
		w.reflected(r.Elem(), budget)
		return
	}
	w.guarded(r, budget, func() {
		if !w.marshaled(r, budget) {
			w.reflected(r.Elem(), budget)
		}
	})
}

// guarded writes a value that may contain itself.
func (w *safeWriter) guarded(r reflect.Value, budget int, write func()) {
	v := visit{at: r.Pointer(), typ: r.Type()}
	switch {
	case w.path[v]:
		w.text("[cycle]", budget)
		return
	case len(w.path) == maxOpen:
		w.literal(cutElement, budget)
		return
	case w.path == nil:
		w.path = make(map[visit]bool)
	}
	w.path[v] = true
	write()
	delete(w.path, v)
}

// marshaled writes a value by its type's marshaling method, as encoding/json does, and parses and bounds the result. It returns
// false if the type has none.
func (w *safeWriter) marshaled(r reflect.Value, budget int) bool {
	if !r.CanInterface() {
		return false
	}
	switch v := r.Interface().(type) {
	case error:
		w.text(textOf(v), budget)
	case json.Marshaler:
		if raw, ok := callMarshal(v.MarshalJSON); ok {
			w.foreign(raw, budget)
		} else {
			w.text(unencodable, budget)
		}
	case encoding.TextMarshaler:
		if text, ok := callMarshal(v.MarshalText); ok {
			w.text(string(text), budget)
		} else {
			w.text(unencodable, budget)
		}
	default:
		return false
	}
	return true
}

// callMarshal calls a marshaling method of a foreign type. ok is false if it returned an error or panicked.
func callMarshal(marshal func() ([]byte, error)) (text []byte, ok bool) {
	var err error
	returned := guard(func() { text, err = marshal() })
	return text, returned && err == nil
}

func (w *safeWriter) kind(r reflect.Value, budget int) {
	switch r.Kind() {
	case reflect.Bool:
		w.literal(strconv.FormatBool(r.Bool()), budget)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.literal(strconv.FormatInt(r.Int(), 10), budget)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		w.literal(strconv.FormatUint(r.Uint(), 10), budget)
	case reflect.Float32, reflect.Float64:
		w.float(r.Float(), r.Type().Bits(), budget)
	case reflect.String:
		w.text(r.String(), budget)
	case reflect.Array:
		w.array(elements(r), budget)
	case reflect.Slice:
		w.slice(r, budget, elements(r))
	case reflect.Map:
		w.mapping(r, budget, func() object { return mapFields(r) })
	case reflect.Struct:
		w.object(slices.Values(structFields(r, nil, nil)), budget)
	default: // channels, functions, complex numbers, raw pointers
		w.text("["+r.Kind().String()+"]", budget)
	}
}

func (w *safeWriter) slice(r reflect.Value, budget int, elements iter.Seq[any]) {
	switch {
	case r.IsNil():
		w.literal("null", budget)
	case r.Type().Elem().Kind() == reflect.Uint8:
		w.text(base64.StdEncoding.EncodeToString(r.Bytes()[:min(r.Len(), MaxText)]), budget)
	case r.Len() == 0: // empty slices share one address
		w.array(elements, budget)
	default:
		w.guarded(r, budget, func() { w.array(elements, budget) })
	}
}

func elements(r reflect.Value) iter.Seq[any] {
	return func(yield func(any) bool) {
		for i := range r.Len() {
			if !yield(r.Index(i)) {
				return
			}
		}
	}
}

func (w *safeWriter) mapping(r reflect.Value, budget int, fields func() object) {
	if r.IsNil() {
		w.literal("null", budget)
		return
	}
	w.guarded(r, budget, func() {
		w.object(func(yield func(field) bool) { slices.Values(fields())(yield) }, budget) // sorted only if the map is written
	})
}

func mapFields(r reflect.Value) object {
	fields := make(object, 0, r.Len())
	for it := r.MapRange(); it.Next(); {
		fields = append(fields, field{name: keyText(it.Key()), value: it.Value()})
	}
	slices.SortFunc(fields, field.compare)
	return fields
}

// sortedFields is mapFields without reflection.
func sortedFields(m map[string]any) object {
	fields := make(object, 0, len(m))
	for name, value := range m {
		fields = append(fields, field{name, value})
	}
	slices.SortFunc(fields, field.compare)
	return fields
}

func (f field) compare(g field) int { return strings.Compare(f.name, g.name) }

// keyText returns the member name for a map key. Unlike encoding/json it supports every key type.
func keyText(k reflect.Value) string {
	for k.Kind() == reflect.Interface && !k.IsNil() {
		k = k.Elem()
	}
	if k.Kind() == reflect.String {
		return k.String()
	}
	if k.CanInterface() {
		if m, ok := k.Interface().(encoding.TextMarshaler); ok && !isNil(m) {
			if text, ok := callMarshal(m.MarshalText); ok {
				return string(text)
			}
		}
	}
	switch k.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(k.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return strconv.FormatUint(k.Uint(), 10)
	case reflect.Float32, reflect.Float64:
		return strconv.FormatFloat(k.Float(), 'g', -1, k.Type().Bits())
	case reflect.Bool:
		return strconv.FormatBool(k.Bool())
	default:
		return "[" + k.Kind().String() + "]"
	}
}

// structFields appends the exported fields of r under their JSON names, except those hidden by an outer struct. Embedded
// structs without a name are inlined.
func structFields(r reflect.Value, hidden []string, out object) object {
	own := slices.Clone(hidden)
	for _, f := range reflect.VisibleFields(r.Type()) {
		if name, _ := jsonName(f); len(f.Index) == 1 && name != "" {
			own = append(own, name)
		}
	}
	for i := range r.NumField() {
		f := r.Type().Field(i)
		name, options := jsonName(f)
		switch {
		case name == "" && f.Anonymous && f.Tag.Get("json") == "" && f.Type.Kind() == reflect.Struct:
			out = structFields(r.Field(i), own, out)
		case name == "" || slices.Contains(hidden, name),
			strings.Contains(options, "omitempty") && isEmpty(r.Field(i)),
			strings.Contains(options, "omitzero") && r.Field(i).IsZero():
		default:
			out = append(out, field{name: name, value: r.Field(i)})
		}
	}
	return out
}

// jsonName returns the JSON name of a field, or "" if it is not written, and the options of its tag.
func jsonName(f reflect.StructField) (name, options string) {
	tag := f.Tag.Get("json")
	name, options, _ = strings.Cut(tag, ",")
	switch {
	case tag == "-", !f.IsExported():
		return "", options
	case name == "" && f.Anonymous && f.Type.Kind() == reflect.Struct:
		return "", options
	}
	return firstText(name, f.Name), options
}

func isEmpty(r reflect.Value) bool {
	switch r.Kind() {
	case reflect.Slice, reflect.Map, reflect.String, reflect.Array:
		return r.Len() == 0
	default:
		return r.IsZero()
	}
}
