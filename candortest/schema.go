package candortest

import (
	"cmp"
	"slices"

	jsonschema "github.com/candor-mcp/candor/internal/schema"
	"github.com/candor-mcp/candor/wire"
)

// schema is a JSON Schema. The kit reads the keywords that it needs to violate a rule on purpose.
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

// compiled holds the schemas of all servers.
var compiled jsonschema.Cache

// explain validates a value. A schema that cannot be compiled accepts every value.
func (s schema) explain(value []byte) jsonschema.Report {
	full, err := compiled.Get(s.raw.Raw())
	if err != nil || full == nil {
		return jsonschema.Report{}
	}
	return full.Explain(value)
}

// example returns arguments that probably match.
func (s schema) example() string {
	if made := s.explain([]byte(`{}`)).Template; !made.IsZero() {
		return made.String()
	}
	return `{}`
}

// misfit describes where a value violates the schema, or returns "".
func (s schema) misfit(v wire.Value) string {
	report := s.explain(v.Raw())
	if report.OK() {
		return ""
	}
	return cmp.Or(report.Issues[0].Path, "the value") + " " + report.Issues[0].Message
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
