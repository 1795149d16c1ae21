package candor

import (
	"encoding/json"
	"iter"
	"reflect"
	"slices"
)

// thrown is what a value that is neither an error nor a text says about itself, by the member names that older
// servers use. It is read from the value and not from its details, in which large neighbours may have left no room.
type thrown struct {
	errorCode, code, humanMessage, message, name string
}

func thrownBy(v any) thrown {
	var t thrown
	known := map[string]*string{
		"error_code": &t.errorCode, "code": &t.code, "human_message": &t.humanMessage, "message": &t.message, "name": &t.name,
	}
	for f := range membersOf(v) {
		if into := known[f.name]; into != nil && *into == "" {
			*into = scalarText(f.value)
		}
	}
	return t
}

// carried returns the registered code, if there is one, and the words that go with it.
func (t thrown) carried() (Code, string) {
	for _, symbol := range [...]string{t.errorCode, t.code} {
		if c, ok := LookupSymbol(symbol); ok {
			return c, firstText(t.humanMessage, t.message)
		}
	}
	return Code{}, ""
}

func firstText(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// membersOf yields the members that encoding/json would see in an object, map or struct. Anything else has none.
func membersOf(v any) iter.Seq[field] {
	none := func(func(field) bool) {}
	r := reflect.ValueOf(v)
	if isNilPointer(v) {
		return none
	}
	switch v := v.(type) {
	case json.Marshaler: // json.RawMessage is one
		raw, ok := said(v.MarshalJSON)
		if !ok || !json.Valid(raw) {
			return none
		}
		return validJSON(raw).fields()
	default:
		for n := 0; n < maxOpen && (r.Kind() == reflect.Pointer || r.Kind() == reflect.Interface); n++ {
			r = r.Elem()
		}
	}
	switch r.Kind() {
	case reflect.Map:
		return func(yield func(field) bool) {
			for it := r.MapRange(); it.Next(); {
				if !yield(field{name: keyText(it.Key()), value: it.Value()}) {
					return
				}
			}
		}
	case reflect.Struct:
		return slices.Values(structFields(r, nil, nil))
	default:
		return none
	}
}

// scalarText returns a text or the spelling of a number, and "" for everything else.
func scalarText(v any) string {
	var w safeWriter
	w.element(v, MaxDetails)
	switch c := w.out[0]; {
	case c == '"':
		var s string
		if json.Unmarshal(w.out, &s) == nil {
			return s
		}
	case c == '-' || '0' <= c && c <= '9':
		return string(w.out)
	}
	return ""
}
