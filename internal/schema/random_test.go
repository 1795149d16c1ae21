package schema_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// random makes schemas and values that meet: few names, small numbers, short texts.
type random struct{ *rand.Rand }

func newRandom(seed uint64) random { return random{rand.New(rand.NewPCG(seed, seed))} }

func (r random) pick(of ...string) string { return of[r.IntN(len(of))] }

func (r random) name() string { return r.pick("a", "b", "path", "limit", `q"`, "é", `\\`) }

// schema writes a schema. plain keeps to the keywords that the quick check knows.
func (r random) schema(depth int, plain bool) string {
	if r.IntN(12) == 0 {
		return r.pick("true", "{}", `{"title":"t"}`, `{"description":"d","default":1}`, "false")
	}
	var words []string
	add := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }
	t := r.pick("object", "array", "string", "integer", "number", "boolean", "null")
	if depth <= 0 && (t == "object" || t == "array") {
		t = "string"
	}
	switch r.IntN(5) {
	case 0:
	case 1:
		add(`"type":["null",%q]`, t)
	default:
		add(`"type":%q`, t)
	}
	switch t {
	case "object":
		r.objectWords(depth, plain, add)
	case "array":
		add(`"items":%s`, r.schema(depth-1, plain))
		r.between("Items", 3, add)
		if !plain && r.IntN(3) == 0 {
			add(`"uniqueItems":true`)
		}
	case "string":
		r.between("Length", 8, add)
		if r.IntN(4) == 0 {
			add(`"enum":["red","green","b\u006cue",null,1]`)
		}
		if !plain && r.IntN(3) == 0 {
			add(`"pattern":%q`, r.pick("^[a-z]+$", "^x{2,4}-[0-9]$", "(red|green)", "^(?!no)"))
		}
	case "integer", "number":
		r.numberWords(plain, add)
	}
	if !plain && depth > 0 && r.IntN(4) == 0 {
		add(`%q:[%s,%s]`, r.pick("anyOf", "oneOf", "allOf"), r.schema(depth-1, plain), r.schema(depth-1, plain))
	}
	if !plain && r.IntN(10) == 0 {
		words = []string{fmt.Sprintf(`%q:[%s,%s]`, r.pick("anyOf", "oneOf"), r.schema(depth-1, plain), `{"type":"null"}`)}
	}
	return "{" + strings.Join(words, ",") + "}"
}

func (r random) objectWords(depth int, plain bool, add func(string, ...any)) {
	members := map[string]json.RawMessage{}
	for range r.IntN(4) {
		members[r.name()] = json.RawMessage(r.schema(depth-1, plain))
	}
	text, err := json.Marshal(members)
	if err != nil {
		panic(err)
	}
	add(`"properties":%s`, text)
	if r.IntN(2) == 0 {
		add(`"required":[%q]`, r.pick("a", "b", "path"))
	}
	switch r.IntN(4) {
	case 0:
		add(`"additionalProperties":false`)
	case 1:
		add(`"additionalProperties":%s`, r.schema(depth-1, plain))
	}
	if !plain && r.IntN(6) == 0 {
		add(`"minProperties":%d`, r.IntN(4))
	}
	if !plain && r.IntN(6) == 0 {
		add(`"propertyNames":{"maxLength":%d}`, r.IntN(6))
	}
	if !plain && r.IntN(8) == 0 {
		add(`"dependentRequired":{"a":["b"]}`)
	}
}

func (r random) numberWords(plain bool, add func(string, ...any)) {
	if r.IntN(3) == 0 {
		add(`%q:%s`, r.pick("minimum", "exclusiveMinimum"), r.number())
	}
	if r.IntN(3) == 0 {
		add(`%q:%s`, r.pick("maximum", "exclusiveMaximum"), r.number())
	}
	if r.IntN(6) == 0 {
		add(`"enum":[1,2.5,-3,"x",true]`)
	}
	if r.IntN(8) == 0 {
		add(`"const":%s`, r.number())
	}
	if !plain && r.IntN(4) == 0 {
		add(`"multipleOf":%s`, r.pick("1", "3", "0.5", "0.1"))
	}
}

func (r random) between(of string, up int, add func(string, ...any)) {
	if r.IntN(3) == 0 {
		add(`"min%s":%d`, of, r.IntN(up))
	}
	if r.IntN(3) == 0 {
		add(`"max%s":%d`, of, r.IntN(up))
	}
}

func (r random) number() string {
	return r.pick("0", "1", "-1", "2", "2.5", "-3", "1.0", "3.000", "0.1", "0.10", "1e2", "-0", "9007199254740993", "9007199254740992",
		"0.30000000000000004", "0.3", "100000000000000000000", "1e-7", "12345678901234567890123456789012345")
}

func (r random) text() string {
	return r.pick(`""`, `"x"`, `"red"`, `"blue"`, `"\u0072ed"`, `"é"`, `"\ud83d\ude00"`, `"😀😀"`, `"a\nb"`, `"\\\""`, `"abcdefgh"`, `"\ud800x"`, `"xx-1"`)
}

// value writes a value that may or may not fit.
func (r random) value(depth int) string {
	kind := r.IntN(8)
	if depth <= 0 {
		kind = r.IntN(5)
	}
	switch kind {
	case 0:
		return r.pick("null", "true", "false")
	case 1, 2:
		return r.number()
	case 3, 4:
		return r.text()
	case 5:
		var items []string
		for range r.IntN(4) {
			items = append(items, r.value(depth-1))
		}
		return "[" + strings.Join(items, " , ") + "]"
	default:
		members := []string{}
		for range r.IntN(4) {
			members = append(members, fmt.Sprintf(`"%s" : %s`, r.pick("a", "b", "path", "limit", `q\"`, "é", `\u0061`, `\\\\`, "other"), r.value(depth-1)))
		}
		return "{" + strings.Join(members, ",") + "}"
	}
}

// near writes a value made after a schema, so that many fit.
func (r random) near(tb testing.TB, raw string) string {
	tb.Helper()
	var doc any
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		tb.Fatal(err)
	}
	text, err := json.Marshal(r.fit(doc))
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

func (r random) fit(doc any) any {
	s, ok := doc.(map[string]any)
	if !ok || r.IntN(15) == 0 {
		return json.RawMessage(r.value(1))
	}
	if list, ok := s["enum"].([]any); ok {
		return list[r.IntN(len(list))]
	}
	if c, ok := s["const"]; ok {
		return c
	}
	t := s["type"]
	if list, ok := t.([]any); ok {
		t = list[r.IntN(len(list))]
	}
	switch t {
	case "object":
		object := map[string]any{}
		members, _ := s["properties"].(map[string]any)
		for name, sub := range members {
			object[name] = r.fit(sub)
		}
		return object
	case "array":
		list := []any{}
		for range r.IntN(3) {
			list = append(list, r.fit(s["items"]))
		}
		return list
	case "integer", "number":
		return json.RawMessage(r.number())
	case "boolean":
		return true
	case "null":
		return nil
	default:
		return json.RawMessage(r.text())
	}
}
