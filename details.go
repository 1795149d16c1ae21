package candor

import (
	"encoding/json"
	"errors"
	"iter"
)

// Details is the structured part of an error: valid JSON, redacted, and bounded by [MaxDetails], [MaxDepth], [MaxItems] and
// [MaxText]. It is immutable and comparable; the zero Details is empty.
type Details struct {
	json string
}

// DetailsOf copies v into safe JSON. A nil value, also a typed one, gives the zero Details. Values that JSON cannot hold become
// short strings in brackets, such as "[cycle]" or "[chan]"; NaN and infinities become strings; parts that do not fit are cut and
// marked "…".
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

// ParseDetails copies JSON text, keeping the order of members and the spelling of numbers. It returns an error for text that is
// not one JSON value.
func ParseDetails(raw []byte) (Details, error) {
	if !json.Valid(raw) {
		return Details{}, errors.New("details: not one JSON value")
	}
	return DetailsOf(json.RawMessage(raw)), nil
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

// Get returns the member of that name, or the zero Details.
func (d Details) Get(name string) Details {
	for f := range validJSON(d.json).fields() {
		if v, ok := f.value.(validJSON); ok && f.name == name {
			return Details{json: string(v)}
		}
	}
	return Details{}
}

// With returns a copy with one member set. Details that are not an object are kept under "value". The new member comes first, so
// that it is kept if the details have to be cut.
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

func issueElements(issues []Issue) iter.Seq[any] {
	return func(yield func(any) bool) {
		for i := range issues {
			if !yield(&issues[i]) {
				return
			}
		}
	}
}

// fields yields the members of an issue as encoding/json would write them.
func (i *Issue) fields() iter.Seq[field] {
	return func(yield func(field) bool) {
		more := yield(field{"path", i.Path})
		text := func(name, value string) {
			if more && value != "" {
				more = yield(field{name, value})
			}
		}
		value := func(name string, v any) {
			if more && v != nil {
				more = yield(field{name, v})
			}
		}
		text("rule", i.Rule)
		text("message", i.Message)
		value("expected", i.Expected)
		text("got", i.Got)
		text("hint", i.Hint)
		value("example", i.Example)
	}
}

// Issue is one fault in the arguments of a call.
type Issue struct {
	// Path is the JSON Pointer of the argument; "" means the arguments as a whole. A missing or unknown key is named by its own
	// pointer.
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
