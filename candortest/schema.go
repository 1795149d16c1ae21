package candortest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/wire"
)

// schema is the part of JSON Schema that the kit supports: enough to violate a rule on purpose, and to detect a value that
// clearly does not match. Keywords that it does not support count as satisfied.
type schema struct {
	raw wire.Value
}

func readSchema(v wire.Value) schema { return schema{v} }

// types returns the allowed JSON types, or nil for any.
func (s schema) types() []string {
	kind := s.raw.Path("type")
	if name, ok := kind.Str(); ok {
		return []string{name}
	}
	var out []string
	for element := range kind.Elements() {
		name, _ := element.Str()
		out = append(out, name)
	}
	return out
}

// properties returns the names of the declared properties in source order.
func (s schema) properties() []string {
	var names []string
	for name := range s.raw.Path("properties").Members() {
		text, _ := name.Str()
		names = append(names, text)
	}
	return names
}

func (s schema) property(name string) schema { return schema{s.raw.Path("properties", name)} }

func (s schema) required() []string {
	var names []string
	for element := range s.raw.Path("required").Elements() {
		name, _ := element.Str()
		names = append(names, name)
	}
	return names
}

// closed reports whether unknown properties are forbidden.
func (s schema) closed() bool {
	allowed, isBool := s.raw.Path("additionalProperties").Bool()
	return isBool && !allowed
}

// wrongValues maps each type to a value of another type that no lenient decoder converts.
var wrongValues = map[string]string{
	"string": `{"candortest":true}`, "integer": `"candortest"`, "number": `"candortest"`, "boolean": `"candortest"`,
	"array": `"candortest"`, "object": `"candortest"`,
}

// wrong returns a value of a type that the schema does not allow.
func (s schema) wrong() (string, bool) {
	types := s.types()
	if len(types) == 0 {
		return "", false
	}
	for _, name := range types {
		candidate := wrongValues[name]
		if candidate == "" {
			continue
		}
		if v, err := wire.ParseValue([]byte(candidate), wire.Limits{}); err == nil && !slices.ContainsFunc(types, func(t string) bool { return isType(v, t) }) {
			return candidate, true
		}
	}
	return "", false
}

// example returns a value that probably matches. ok is false if the value is a guess that is likely to be wrong.
func (s schema) example() (value string, ok bool) {
	for _, place := range []wire.Value{s.raw.Path("const"), s.raw.Path("default"), s.raw.Path("enum", 0), s.raw.Path("examples", 0)} {
		if place.Present() {
			return string(place.Raw()), true
		}
	}
	types := s.types()
	if len(types) == 0 {
		return `"candortest"`, false
	}
	switch types[0] {
	case "string":
		return `"candortest"`, !s.raw.Path("pattern").Present() && !s.raw.Path("format").Present()
	case "integer", "number":
		if least := s.raw.Path("minimum"); least.Present() {
			return string(least.Raw()), true
		}
		return `1`, true
	case "boolean":
		return `false`, true
	case "array":
		return `[]`, !s.raw.Path("minItems").Present()
	case "object":
		return s.exampleObject()
	default:
		return `null`, true
	}
}

func (s schema) exampleObject() (string, bool) {
	ok := true
	var members []string
	for _, name := range s.required() {
		value, sure := s.property(name).example()
		ok = ok && sure
		members = append(members, quote(name)+":"+value)
	}
	return `{` + strings.Join(members, ",") + `}`, ok
}

// misfit describes where a value clearly violates the schema, or returns "". The depth of the message bounds the recursion.
func (s schema) misfit(v wire.Value) string { return s.misfitAt(v, "") }

func (s schema) misfitAt(v wire.Value, path string) string {
	at := path
	if at == "" {
		at = "the value"
	}
	if types := s.types(); len(types) > 0 && !slices.ContainsFunc(types, func(t string) bool { return isType(v, t) }) {
		return at + " is of the type " + v.Type().String() + " and not " + strings.Join(types, " or ")
	}
	if allowed := s.raw.Path("enum"); allowed.Present() && !contains(allowed, v) {
		return at + " is none of the values in enum"
	}
	if v.Type() == wire.TypeArray {
		for element := range v.Elements() {
			if wrong := (schema{s.raw.Path("items")}).misfitAt(element, path+"/-"); wrong != "" {
				return wrong
			}
		}
	}
	if v.Type() != wire.TypeObject {
		return ""
	}
	for _, name := range s.required() {
		if _, ok := v.Get(name); !ok {
			return path + "/" + name + " is missing"
		}
	}
	declared := s.properties()
	for name, member := range v.Members() {
		text, _ := name.Str()
		if !slices.Contains(declared, text) {
			if s.closed() {
				return path + "/" + text + " is not declared"
			}
			continue
		}
		if wrong := s.property(text).misfitAt(member, path+"/"+text); wrong != "" {
			return wrong
		}
	}
	return ""
}

// contains reports whether list contains v, comparing JSON values and not their encodings.
func contains(list, v wire.Value) bool {
	for element := range list.Elements() {
		if sameJSON(element.Raw(), v.Raw()) {
			return true
		}
	}
	return false
}

func sameJSON(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	left, errLeft := json.Marshal(x)
	right, errRight := json.Marshal(y)
	return errLeft == nil && errRight == nil && string(left) == string(right)
}

func isType(v wire.Value, name string) bool {
	switch name {
	case "integer":
		f, ok := v.Float64()
		return ok && f == float64(int64(f))
	case "boolean":
		return v.Type() == wire.TypeBool
	default:
		return v.Type().String() == name
	}
}
