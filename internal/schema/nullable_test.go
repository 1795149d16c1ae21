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
