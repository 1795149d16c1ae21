package workrail_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/testing/servertest"
	"github.com/candor-mcp/candor/internal/schema"
)

// TestW4EveryChannelUsesTheEnvelope covers unknown tools, wrong types of arguments, panics, timeouts, resources and
// unknown methods.
func TestW4EveryChannelUsesTheEnvelope(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start("--drill")
	s.call("nope", args{}).is("TOOL_NOT_FOUND").wellFormed()
	for _, in := range []any{"text", []int{1}, 5, true} {
		s.call("start_workflow", in).is("VALIDATION_ERROR").wellFormed()
	}
	s.call("start_workflow", nil).is("VALIDATION_ERROR").wellFormed()
	s.call("drill", args{"kind": "panic"}).is("INTERNAL_ERROR").wellFormed()
	s.call("drill", args{"kind": "timeout"}).is("TIMEOUT").wellFormed()
	method := s.Ask("no/such", `{}`)
	answer{servertest.Answer{T: t, M: &method}}.wellFormed()
	resource := s.Ask("resources/read", `{"uri":"file:///x"}`)
	answer{servertest.Answer{T: t, M: &resource}}.is("RESOURCE_NOT_FOUND").wellFormed()
	s.call("list_workflows", args{}).fine()
}

// TestW7EveryWrongArgumentIsListed checks for suggested names, and for a template that is valid.
func TestW7EveryWrongArgumentIsListed(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	a := s.call("start_workflow", args{"workflow_id": "plain", "goal": 5, "context": "x"}).is("VALIDATION_ERROR").wellFormed()
	var paths []string
	hint := ""
	for issue := range a.envelope().Path("details", "validationIssues").Elements() {
		path, _ := issue.Path("path").Str()
		paths = append(paths, path)
		if path == "workflow_id" {
			hint, _ = issue.Path("hint").Str()
		}
	}
	slices.Sort(paths)
	if want := []string{"context", "goal", "workflowId", "workflow_id"}; !slices.Equal(paths, want) {
		t.Errorf("the paths are %q, want %q", paths, want)
	}
	if hint != `did you mean "workflowId"?` { // a list of all keys would contain it as well
		t.Errorf("the hint is %q", hint)
	}
	list := s.Ask("tools/list", `{}`)
	for tool := range list.Result().Path("tools").Elements() {
		name, _ := tool.Path("name").Str()
		b := s.call(name, args{"noSuchKeyAtAll": 1}).is("VALIDATION_ERROR")
		compiled, err := schema.Compile(tool.Path("inputSchema").Raw())
		if err != nil {
			t.Fatal(err)
		}
		template := b.envelope().Path("details", "correctTemplate")
		if !template.Present() || !compiled.Accepts(template.Raw()) {
			t.Errorf("%s: the template %s does not pass", name, template.Raw())
		}
		if strings.Contains(string(tool.Raw()), "begin_session") {
			t.Errorf("%s speaks of begin_session, which is not a tool here", name)
		}
	}
}
