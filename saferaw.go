package candor

import (
	"encoding/json"
	"iter"
	"strings"
)

// validJSON is the text of one JSON value, known to be one.
type validJSON string

// foreign writes JSON text of unknown quality. Half a value is no value: showing what could be read of it would
// pass it off as whole.
func (w *safeWriter) foreign(text []byte, room int) {
	switch {
	case len(text) == 0:
		w.literal("null", room)
	case !json.Valid(text):
		w.text(unencodable, room)
	default:
		w.raw(validJSON(text), room)
	}
}

// raw re-writes JSON text within the bounds. Only what is kept is decoded.
func (w *safeWriter) raw(text validJSON, room int) {
	dec := text.decoder()
	token, err := dec.Token()
	if err != nil { // no text at all
		w.literal("null", room)
		return
	}
	switch token {
	case json.Delim('['):
		w.array(rawElements(dec), room)
	case json.Delim('{'):
		w.object(rawFields(dec), room)
	default:
		w.any(token, room)
	}
}

// decoder keeps the spelling of numbers.
func (t validJSON) decoder() *json.Decoder {
	dec := json.NewDecoder(strings.NewReader(string(t)))
	dec.UseNumber()
	return dec
}

// rawElements yields the elements of the array that dec has entered.
func rawElements(dec *json.Decoder) iter.Seq[any] {
	return func(yield func(any) bool) {
		var v json.RawMessage
		for dec.More() && dec.Decode(&v) == nil && yield(validJSON(v)) {
		}
	}
}

// rawFields yields the members of the object that dec has entered.
func rawFields(dec *json.Decoder) iter.Seq[field] {
	return func(yield func(field) bool) {
		for dec.More() {
			token, err := dec.Token()
			name, ok := token.(string)
			var v json.RawMessage
			if err != nil || !ok || dec.Decode(&v) != nil || !yield(field{name, validJSON(v)}) {
				return
			}
		}
	}
}

// fields yields the members of an object, in order. Anything else has none.
func (t validJSON) fields() iter.Seq[field] {
	dec := t.decoder()
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return func(func(field) bool) {}
	}
	return rawFields(dec)
}
