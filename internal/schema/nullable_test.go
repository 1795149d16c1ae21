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
