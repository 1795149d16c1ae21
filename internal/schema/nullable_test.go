package schema_test

import (
	"testing"

	"github.com/candor-mcp/candor/internal/schema"
)

// TestNullIsTakenWhereAServerSaysNullable: servers that are made from an OpenAPI description say so, and take it.
func TestNullIsTakenWhereAServerSaysNullable(t *testing.T) {
	t.Parallel()
	const listed = `{"type":"object","properties":{
		"berth":{"type":"string","nullable":true},
		"kind":{"type":"string","enum":["sail","oar"],"nullable":true},
		"crew":{"type":"array","items":{"type":"object","nullable":true,"properties":{"age":{"type":"integer","nullable":false}}}},
		"nullable":{"type":"boolean"},
		"flag":{"type":"object","default":{"type":"string","nullable":true}}}}`
	s, err := schema.Compile([]byte(listed))
	if err != nil {
		t.Fatal(err)
	}
	for arguments, want := range map[string]bool{
		`{"berth":null,"kind":null,"crew":[null,{"age":5}]}`: true,
		`{"berth":"north","kind":"oar"}`:                     true,
		`{"berth":5}`:                                        false,
		`{"kind":"steam"}`:                                   false,
		`{"crew":[{"age":null}]}`:                            false,
		`{"crew":null}`:                                      false,
		`{"nullable":null}`:                                  false,
		`{"nullable":true}`:                                  true,
		`{"flag":null}`:                                      false,
	} {
		report := s.Explain([]byte(arguments))
		if report.OK() != want || s.Accepts([]byte(arguments)) && !want {
			t.Errorf("%s: accepted %v, want %v: %v", arguments, report.OK(), want, report.Issues)
		}
	}
}

// TestNullIsTakenHoweverWhatIsNullableIsDescribed has the ways of servers that know both OpenAPI and JSON Schema, in an old draft and the new.
func TestNullIsTakenHoweverWhatIsNullableIsDescribed(t *testing.T) {
	t.Parallel()
	const defs = `"$defs":{"berth":{"type":"string"},"default":{"type":"integer","nullable":true}}`
	for _, c := range []struct{ described, good, bad string }{
		{`{"$ref":"#/$defs/berth","nullable":true,"description":"where"}`, `"north"`, `5`},
		{`{"allOf":[{"$ref":"#/$defs/berth"}],"nullable":true}`, `"north"`, `5`},
		{`{"allOf":[{"type":"string"},{"minLength":3},{"enum":["north","up"]}],"nullable":true}`, `"north"`, `"up"`},
		{`{"anyOf":[{"type":"string"},{"type":"integer"}],"nullable":true}`, `5`, `true`},
		{`{"enum":["north",5],"nullable":true}`, `5`, `"south"`},
		{`{"type":["string","integer"],"nullable":true}`, `5`, `true`},
		{`{"$ref":"#/$defs/default"}`, `5`, `"north"`},
	} {
		for _, draft := range []string{"http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"} {
			s, err := schema.Compile([]byte(`{"$schema":"` + draft + `","type":"object",` + defs + `,"properties":{"x":` + c.described + `}}`))
			if err != nil {
				t.Fatalf("%s: %v", c.described, err)
			}
			for value, want := range map[string]bool{"null": true, c.good: true, c.bad: false} {
				arguments := []byte(`{"x":` + value + `}`)
				if report := s.Explain(arguments); report.OK() != want || s.Accepts(arguments) && !want {
					t.Errorf("%s in %s, %s: accepted %v, want %v: %v", c.described, draft, value, report.OK(), want, report.Issues)
				}
			}
		}
	}
}

// TestAPropertyMayBeCalledAsAKeyword: below properties every name is the author's own.
func TestAPropertyMayBeCalledAsAKeyword(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"default", "example", "examples", "const", "enum", "properties", "type"} {
		s, err := schema.Compile([]byte(`{"type":"object","properties":{"nullable":true,"` + name + `":{"type":"object","nullable":true,
			"properties":{"` + name + `":{"type":"string","nullable":true}}}}}`))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for arguments, want := range map[string]bool{
			`{"` + name + `":null}`: true, `{"` + name + `":{"` + name + `":null}}`: true, `{"` + name + `":{"` + name + `":5}}`: false,
		} {
			if report := s.Explain([]byte(arguments)); report.OK() != want {
				t.Errorf("%s: accepted %v, want %v: %v", arguments, report.OK(), want, report.Issues)
			}
		}
	}
}

// TestNullForWhatMayBeMissingIsToldToBeLeftOut: an example in its place would have a caller send a value that it does not mean.
func TestNullForWhatMayBeMissingIsToldToBeLeftOut(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile([]byte(`{"type":"object","required":["berth"],"properties":{
		"berth":{"type":"string"},"age":{"type":"integer"},"crew":{"type":"object","properties":{"size/max":{"type":"integer"}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	hints := map[string]string{}
	for _, issue := range s.Explain([]byte(`{"berth":null,"age":null,"crew":{"size/max":null}}`)).Issues {
		hints[issue.Path] = issue.Hint
	}
	const want = "leave the key out where there is no value"
	if len(hints) != 3 || hints["/berth"] != "" || hints["/age"] != want || hints["/crew/size~1max"] != want {
		t.Errorf("hints %q", hints)
	}
}
