package cases

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/wire"
)

// shape is the top level of an input schema, in its order.
type shape struct{ properties []property }

// property is one argument.
type property struct {
	name     string
	kind     string // the first type in the schema, "" if there is none
	required bool
	schema   wire.Value
}

// maxProperties is the maximum number of arguments that are read.
const maxProperties = 200

// shapeOf reads a schema and ignores parts that it does not understand.
func shapeOf(raw json.RawMessage) (s shape) {
	v, err := wire.ParseValue(raw, wire.Limits{})
	if err != nil {
		return s
	}
	var names []string
	if list, ok := v.Get("required"); ok {
		for item := range list.Elements() {
			if name, ok := item.Str(); ok {
				names = append(names, name)
			}
		}
	}
	found, ok := v.Get("properties")
	if !ok || found.Type() != wire.TypeObject {
		return s
	}
	for key, p := range found.Members() {
		name, _ := key.Str()
		if len(s.properties) == maxProperties {
			break
		}
		s.properties = append(s.properties, property{name: name, kind: kindOf(p), required: slices.Contains(names, name), schema: p})
	}
	return s
}

// kindOf returns the type of a property, the first of several.
func kindOf(p wire.Value) string {
	t, ok := p.Get("type")
	if !ok {
		return ""
	}
	if t.Type() == wire.TypeArray {
		t = t.Path(0)
	}
	kind, _ := t.Str()
	return kind
}

func (s shape) required() []property {
	return slices.DeleteFunc(slices.Clone(s.properties), func(p property) bool { return !p.required })
}

// first returns the argument that gets a wrong type, a required one if there is one.
func (s shape) first() (property, bool) {
	if r := s.required(); len(r) > 0 {
		return r[0], true
	}
	if i := slices.IndexFunc(s.properties, func(p property) bool { return p.wrong() != nil }); i >= 0 {
		return s.properties[i], true
	}
	return property{}, false
}

// arguments returns all required arguments, with the named one set to value, or omitted if value is nil.
func (s shape) arguments(name string, value json.RawMessage) json.RawMessage {
	given := slices.DeleteFunc(s.required(), func(p property) bool { return p.name == name })
	if value != nil {
		given = append(given, property{name: name})
	}
	return members(given, func(p property) json.RawMessage {
		if p.name == name {
			return value
		}
		return p.valid()
	})
}

// valid returns a value that the property accepts and that names nothing that exists.
func (p property) valid() json.RawMessage { return validFor(p.name, p.schema, 0) }

// maxDepth is the maximum depth of a generated value.
const maxDepth = 4

func validFor(name string, v wire.Value, depth int) json.RawMessage {
	if fixed := fixedValue(v, "const", "default"); fixed != nil {
		return fixed
	}
	for _, choice := range []string{"anyOf", "oneOf"} {
		if list, ok := v.Get(choice); ok && list.Len() > 0 && kindOf(v) == "" {
			return validFor(name, list.Path(0), depth)
		}
	}
	switch kindOf(v) {
	case "integer", "number":
		return number(name, v)
	case "boolean":
		return json.RawMessage("false")
	case "null":
		return json.RawMessage("null")
	case "array":
		return array(name, v, depth)
	case "object":
		return object(v, depth)
	}
	return text(name, v)
}

// fixedValue returns a value that a schema names in one of the members or in enum, nil if it names none.
func fixedValue(v wire.Value, members ...string) json.RawMessage {
	for _, name := range members {
		fixed, ok := v.Get(name)
		if name == "examples" {
			fixed, ok = fixed.Path(0), fixed.Len() > 0
		}
		if ok {
			return json.RawMessage(fixed.Raw())
		}
	}
	if list, ok := v.Get("enum"); ok && list.Len() > 0 {
		return choice(list)
	}
	return nil
}

// anError matches an enum value that asks for an error. A tool that then returns one has not failed.
var anError = lazyregexp.New(`(?i)^"?[^"]*(error|fail|exception|crash)[^"]*"?$`)

// choice returns the first allowed value that does not ask for an error.
func choice(list wire.Value) json.RawMessage {
	for v := range list.Elements() {
		if !anError.Match(v.Raw()) {
			return json.RawMessage(v.Raw())
		}
	}
	return json.RawMessage(list.Path(0).Raw())
}

func number(name string, v wire.Value) json.RawMessage {
	n := 1.0
	if strings.HasSuffix(strings.ToLower(name), "id") {
		n = 999999
	}
	if low, ok := bound64(v, "minimum"); ok {
		n = max(n, math.Ceil(low))
	}
	if high, ok := bound64(v, "maximum"); ok {
		n = min(n, math.Floor(high))
	}
	return json.RawMessage(strconv.FormatFloat(n, 'f', -1, 64))
}

func array(name string, v wire.Value, depth int) json.RawMessage {
	items, ok := v.Get("items")
	if !ok || depth >= maxDepth {
		return json.RawMessage("[]")
	}
	return json.RawMessage("[" + string(validFor(name, items, depth+1)) + "]")
}

func object(v wire.Value, depth int) json.RawMessage {
	if depth >= maxDepth {
		return json.RawMessage("{}")
	}
	return members(shapeOf(v.Raw()).required(), func(p property) json.RawMessage { return validFor(p.name, p.schema, depth+1) })
}

// members returns an object of the given properties.
func members(properties []property, value func(property) json.RawMessage) json.RawMessage {
	out := []byte{'{'}
	for _, p := range properties {
		if len(out) > 1 {
			out = append(out, ',')
		}
		key, _ := json.Marshal(p.name) // a text can be encoded
		out = append(append(append(out, key...), ':'), value(p)...)
	}
	return append(out, '}')
}

// text returns a text that fits the name of the argument and names nothing that exists.
func text(name string, v wire.Value) json.RawMessage {
	format, _ := v.Path("format").Str()
	low := strings.ToLower(name)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(low, w) })
	}
	s := "zz-does-not-exist"
	switch {
	case format == "uuid":
		s = "00000000-0000-4000-8000-000000000000"
	case format == "date-time":
		s = "2024-01-01T00:00:00Z"
	case format == "date":
		s = "2024-01-01"
	case format == "email" || has("email"):
		s = "zz@nonexistent-zz.example.com"
	case format == "uri" || format == "url" || has("url", "uri"):
		s = "https://nonexistent-zz.example.com/missing"
	case has("path", "file", "folder", "directory"):
		s = "/nonexistent/zz/missing.txt"
	case low == "query" || low == "sql":
		s = "SELECT * FROM no_such_table_zz"
	default:
		s = cmp.Or(byWord(name), s)
	}
	if least, ok := bound64(v, "minLength"); ok && least < 4096 {
		s += strings.Repeat("z", max(0, int(least)-len(s)))
	}
	if most, ok := bound64(v, "maxLength"); ok && most >= 0 && int(most) < len(s) {
		s = s[:int(most)]
	}
	out, _ := json.Marshal(s) // a text can be encoded
	return out
}

// plausible has well-formed values for arguments whose form a server may check, by the last known word of the name. A refusal of a made-up
// value would hide how the server refuses the argument that the case is about.
var plausible = map[string]string{
	"date": "2024-01-01", "day": "2024-01-01", "since": "2024-01-01", "until": "2024-01-01", "datetime": "2024-01-01T00:00:00Z", "timestamp": "2024-01-01T00:00:00Z",
	"time": "2024-01-01T00:00:00Z", "timezone": "UTC", "tz": "UTC", "lang": "en", "language": "en", "locale": "en", "country": "US", "currency": "USD",
	"host": "nonexistent-zz.example.com", "hostname": "nonexistent-zz.example.com", "domain": "nonexistent-zz.example.com", "ip": "192.0.2.1",
	"color": "#112233", "colour": "#112233", "version": "1.0.0", "json": "{}", "uuid": "00000000-0000-4000-8000-000000000000", "cron": "0 0 * * *",
}

func byWord(name string) string {
	parts := strings.Split(words(name), "_")
	for _, part := range slices.Backward(parts) {
		if value, ok := plausible[part]; ok {
			return value
		}
	}
	return ""
}

func bound64(v wire.Value, name string) (float64, bool) {
	found, ok := v.Get(name)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(found.Raw()), 64)
	return n, err == nil && math.Abs(n) < 1e15
}

// wrong returns a value of another type, nil if the property accepts any type.
func (p property) wrong() json.RawMessage {
	switch p.kind {
	case "string":
		return json.RawMessage(`{"zz":[1]}`)
	case "number", "integer":
		return json.RawMessage(`"not-a-number"`)
	case "boolean":
		return json.RawMessage(`"banana"`)
	case "array", "object":
		return json.RawMessage(`42`) // some servers parse a text, as if the list were encoded twice
	}
	return nil
}

// notInEnum returns a value that is not in the enum, nil if there is none.
func (p property) notInEnum() json.RawMessage {
	if list, ok := p.schema.Get("enum"); ok && list.Len() > 0 {
		return json.RawMessage(`"zz-not-in-enum"`)
	}
	return nil
}

// outOfRange returns a number outside of the bounds, nil if there are none.
func (p property) outOfRange() json.RawMessage {
	if p.kind != "number" && p.kind != "integer" {
		return nil
	}
	if high, ok := bound64(p.schema, "maximum"); ok {
		return json.RawMessage(strconv.FormatFloat(math.Floor(high)+1000, 'f', -1, 64))
	}
	if low, ok := bound64(p.schema, "minimum"); ok {
		return json.RawMessage(strconv.FormatFloat(math.Ceil(low)-1000, 'f', -1, 64))
	}
	return nil
}

// empty returns "" if the text must not be empty, else nil.
func (p property) empty() json.RawMessage {
	if least, ok := bound64(p.schema, "minLength"); ok && least > 0 && p.kind == "string" {
		return json.RawMessage(`""`)
	}
	return nil
}

// tooLong returns a text longer than maxLength, nil if there is no limit or it is too large to send.
func (p property) tooLong() json.RawMessage {
	most, ok := bound64(p.schema, "maxLength")
	if !ok || most < 0 || most > 64<<10 || p.kind != "string" {
		return nil
	}
	return json.RawMessage(`"` + strings.Repeat("z", int(most)+1) + `"`)
}
