package schema_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestAdviceComesFromTheSchema checks what is said of one wrong argument, and that nothing is proposed which would fail again.
func TestAdviceComesFromTheSchema(t *testing.T) {
	t.Parallel()
	const edit = `{"type":"object","properties":{"oldText":{},"newText":{},"dryRun":{}},"required":["oldText","newText"]}`
	var many []string
	for c := 'a'; c <= 'x'; c++ {
		many = append(many, fmt.Sprintf("%q", "north-north-west-"+string(c)))
	}
	for name, test := range map[string]struct{ schema, value, want string }{
		"a list of objects":     {`{"properties":{"x":{"type":"array","items":` + edit + `}}}`, `{"x":"a"}`, "must be an array, not a string; send a list of {oldText, newText}"},
		"a list of numbers":     {`{"properties":{"x":{"type":"array","items":{"type":"integer"}}}}`, `{"x":"a"}`, "must be an array, not a string; send a list of integers"},
		"an item":               {`{"properties":{"x":{"type":"array","items":{"type":"string"}}}}`, `{"x":"a"}`, "must be an array, not a string; put it in a list"},
		"a number as an item":   {`{"properties":{"x":{"type":"array","items":{"type":"integer"}}}}`, `{"x":7}`, "must be an array, not a number; put it in a list"},
		"an object":             {`{"properties":{"x":` + edit + `}}`, `{"x":"a"}`, "must be an object, not a string; send an object {oldText, newText}"},
		"both":                  {`{"properties":{"x":{"anyOf":[{"type":"array","items":` + edit + `},` + edit + `]}}}`, `{"x":7}`, "must be an array or an object, not a number; send a list of {oldText, newText} or an object {oldText, newText}"},
		"an object of any keys": {`{"properties":{"x":{"type":"object"}}}`, `{"x":"a"}`, "must be an object, not a string; "},
		"all values":            {`{"properties":{"x":{"enum":["a","b","c","d","e","f","g","h","i","j"]}}}`, `{"x":"zz"}`, `must be "a", "b", "c", "d", "e", "f", "g", "h", "i" or "j"; `},
		"many values":           {`{"properties":{"x":{"enum":[` + strings.Join(many, ",") + `]}}}`, `{"x":"zz"}`, `must be ` + strings.Join(many[:18], ", ") + `, … (6 more); `},
		"values and a type":     {`{"properties":{"x":{"type":"string","enum":["a","b"]}}}`, `{"x":{}}`, `must be a string, not an object; must be "a" or "b"`},
		"a pattern":             {`{"properties":{"x":{"type":"string","pattern":"^[A-Z]{3}$"}}}`, `{"x":"zz"}`, "must match the pattern ^[A-Z]{3}$; "},
		"other keys":            {`{"properties":{"a":{},"b":{},"c":{}},"anyOf":[{"required":["a"]},{"required":["b","c"]}]}`, `{}`, `is missing; or give "b" and "c" (closest of 2 alternatives)`},
		"keys that do not help": {`{"properties":{"a":{},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"properties":{"b":{"const":"z"}}}]}`, `{"b":"x"}`, `is missing; this is the closest of 2 alternatives`},
	} {
		issues := explain(t, test.schema, test.value).Issues
		if len(issues) != 1 {
			t.Errorf("%s: %d issues", name, len(issues))
			continue
		}
		if got := issues[0].Message + "; " + issues[0].Hint; got != test.want {
			t.Errorf("%s: %s\nwant %s", name, got, test.want)
		}
	}
}

// TestDefaultIsNotMissing checks that a tolerant reader of a report does not see missing keys with a default.
func TestDefaultIsNotMissing(t *testing.T) {
	t.Parallel()
	const raw = `{"properties":{"k":{"default":"q"},"n":{"type":"integer"},"m":{}},"required":["k","m"]}`
	if got := lines(explain(t, raw, `{"n":"x"}`).Tolerant()); len(got) != 2 || got[0] != "/m required" || got[1] != "/n type" {
		t.Errorf("%q", got)
	}
	if r := explain(t, raw, `{"m":1}`); r.OK() || !r.Tolerant().OK() {
		t.Errorf("%+v", r)
	}
}

// TestMisspeltUnusedKeyIsNotFatal checks the arguments that a server declares for clients that cannot call a tool without any.
func TestMisspeltUnusedKeyIsNotFatal(t *testing.T) {
	t.Parallel()
	for description, fatal := range map[string]bool{
		"Optional placeholder parameter. Normally omit it.": false,
		"Dummy parameter for a tool without parameters":     false,
		"This is ignored.":                          false,
		"A random text to sign.":                    true,
		"Glob of files that the search should skip": true,
	} {
		raw := `{"properties":{"random_string":{"type":"string","description":"` + description + `"}},"additionalProperties":false}`
		if got := explain(t, raw, `{"randomstring":"x"}`).Fatal; got != fatal {
			t.Errorf("%s: fatal %v", description, got)
		}
	}
	required := `{"properties":{"random_string":{"type":"string","description":"dummy"}},"required":["random_string"],"additionalProperties":false}`
	if !explain(t, required, `{"randomstring":"x"}`).Fatal {
		t.Error("a server that requires the key refuses the call")
	}
}
