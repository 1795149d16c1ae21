package candortest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/candortest"
	"github.com/candor-mcp/candor/internal/schema"
)

// fits reports whether a value fits a schema.
func fits(t *testing.T, text, value string) bool {
	t.Helper()
	s, err := schema.Compile([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s.Explain([]byte(value)).OK()
}

func TestWrongValueIsNeverOfAnAllowedType(t *testing.T) {
	for _, text := range []string{`{"type":"string"}`, `{"type":"integer"}`, `{"type":["boolean","null"]}`, `{"type":["string","object","integer"]}`, `{"type":"array"}`, `{"type":"object"}`} {
		if value, ok := candortest.SchemaWrong(text); ok && fits(t, text, value) {
			t.Errorf("%s is right for %s", value, text)
		}
	}
	for _, text := range []string{`{}`, `true`, `{"type":["string","object"]}`} {
		if value, ok := candortest.SchemaWrong(text); ok {
			t.Errorf("%s has no wrong value, not even %s", text, value)
		}
	}
}

func TestExampleFitsItsSchema(t *testing.T) {
	for _, properties := range []string{
		`{}`, `{"a":{"type":"integer","minimum":7}}`, `{"a":{"enum":["x","y"]}}`, `{"a":{"const":4}}`, `{"a":{"type":"null"}}`,
		`{"a":{"type":"object","properties":{"c":{"type":"number"}},"required":["c"]}}`,
	} {
		text := `{"type":"object","required":["a"],"properties":` + properties + `}`
		if value := candortest.SchemaExample(text); value == "{}" || !fits(t, text, value) {
			t.Errorf("%s: %s", text, value)
		}
	}
}

func TestLeaksDifferFromPlainSentences(t *testing.T) {
	for text, want := range map[string][]string{
		"The file notes.txt does not exist.":                                                nil,
		"/left: is missing; expected integer, got string":                                   nil,
		"unknown tool \"x\" at position 3":                                                  nil,
		"retry after 2000 ms, ref 01J9":                                                     nil,
		"see https://example.com/docs/errors":                                               nil,
		"TypeError: cannot read properties of undefined\n    at run (index.js:10:5)":        {"stack", "type"},
		"Traceback (most recent call last):\n  File \"app.py\", line 3, in run":             {"stack"},
		"java.lang.NullPointerException":                                                    {"type"},
		"open /home/alice/data/x.db: permission denied":                                     {"path"},
		"json: cannot unmarshal string into Go struct field Params.name of type int":        {"type"},
		"input schema validation failed: <root>: &{Missing:[path]}":                         {"type"},
		"panic: runtime error\n\ngoroutine 1 [running]:\nmain.main()\n\tserver.go:12 +0x1d": {"stack"},
	} {
		if got := candortest.Leaks(text); !slices.Equal(got, want) {
			t.Errorf("%q: %v and not %v", text, got, want)
		}
	}
}

func TestInvisibleCharactersAreEscaped(t *testing.T) {
	for raw, want := range map[string]string{
		"\ufeff{}": `\ufeff{}`, "{}\r": `{}\r`, "a\xffb": "a\ufffdb", "{\"password\":\"hunter2hunter2\"}": `{"password":"[redacted:password]"}`,
	} {
		if got := candortest.Shown([]byte(raw)); got != want {
			t.Errorf("%q is shown as %s", raw, got)
		}
	}
	if got := candortest.Shown([]byte(strings.Repeat("a ", 1<<20))); len(got) > 700 || !strings.HasSuffix(got, "(2097152 bytes)") {
		t.Errorf("%d bytes: …%s", len(got), got[len(got)-20:])
	}
}
