package candor

import (
	"encoding/json"
	"errors"
)

// Details is the structured part of an error: JSON that is safe by construction. Whatever Go value it is made from,
// it is valid, bounded by [MaxDetails], [MaxDepth], [MaxItems] and [MaxText], redacted, and free of
// cycles, NaN and things JSON cannot say. It is immutable and comparable; the zero Details is none.
type Details struct {
	json string
}

// DetailsOf copies v into safe JSON. nil, also a typed one, gives none. Values that JSON cannot hold become short texts in
// brackets, such as "[cycle]" or "[chan]"; NaN and infinities become texts; what does not fit is cut and marked "…".
// v is only read.
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

// ParseDetails copies JSON text from elsewhere, keeping member order and number spelling. Text that is not one
// JSON value is refused.
func ParseDetails(raw []byte) (Details, error) {
	if !json.Valid(raw) {
		return Details{}, errors.New("details are not one JSON value")
	}
	return DetailsOf(json.RawMessage(raw)), nil
}

// IsZero reports whether there are no details.
func (d Details) IsZero() bool { return d.json == "" }

// String returns the JSON text, or "" if there is none.
func (d Details) String() string { return d.json }

// MarshalJSON returns the JSON text, or null.
func (d Details) MarshalJSON() ([]byte, error) {
	if d.IsZero() {
		return []byte("null"), nil
	}
	return []byte(d.json), nil
}

// UnmarshalJSON reads JSON text as [ParseDetails] does.
func (d *Details) UnmarshalJSON(raw []byte) error {
	read, err := ParseDetails(raw)
	if err == nil {
		*d = read
	}
	return err
}

// Decode unmarshals the details into v. Without details it does nothing.
func (d Details) Decode(v any) error {
	if d.IsZero() {
		return nil
	}
	return json.Unmarshal([]byte(d.json), v)
}

// Get returns the member of that name as details of its own, or none.
func (d Details) Get(name string) Details {
	for f := range validJSON(d.json).fields() {
		if v, ok := f.value.(validJSON); ok && f.name == name {
			return Details{json: string(v)}
		}
	}
	return Details{}
}

// With returns a copy with one member set. Details that are not an object are kept under "value".
// The new member is placed first, so that it survives if the whole has to be cut.
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

// Issues returns details.issues, or nil if there are none that can be read.
func (d Details) Issues() []Issue {
	var holder struct {
		Issues []Issue `json:"issues"`
	}
	if d.IsZero() || d.json[0] != '{' || d.Decode(&holder) != nil {
		return nil
	}
	return holder.Issues
}

// Issue is one thing wrong with the arguments of a call.
type Issue struct {
	// Path is the JSON Pointer of the argument itself; "" is the arguments as a whole. A missing or
	// unknown key is named by its own pointer.
	Path string `json:"path"`
	// Rule is the schema keyword or the name of the check that failed.
	Rule string `json:"rule,omitempty"`
	// Message is one sentence.
	Message string `json:"message,omitempty"`
	// Expected is the piece of the schema that matters.
	Expected any `json:"expected,omitempty"`
	// Got is the type that was received, never the value.
	Got string `json:"got,omitempty"`
	// Hint says how to mend it, such as the name that was probably meant.
	Hint string `json:"hint,omitempty"`
	// Example is a value that passes.
	Example any `json:"example,omitempty"`
}
