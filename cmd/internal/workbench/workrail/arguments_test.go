package workrail_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/testing/servertest"
	"github.com/candor-mcp/candor/internal/schema"
)

// TestW3RetryIsOneOfThreeKinds checks each kind with a failure that has it.
func TestW3RetryIsOneOfThreeKinds(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"TIMEOUT": `{"kind":"retryable_immediate"}`, "TOKEN_SESSION_LOCKED": `{"kind":"retryable_after_ms","afterMs":1000}`, "NOT_FOUND": `{"kind":"not_retryable"}`,
	} {
		a := triggers[code](newPlace(t)).is(code)
		a.retryIsSound()
		if got := string(a.envelope().Path("retry").Raw()); got != want {
			t.Errorf("%s: %s, want %s", code, got, want)
		}
	}
}

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
	// The data of a resource that is not found is exactly its URI, as the protocol requires.
	resource := s.Ask("resources/read", `{"uri":"file:///x"}`)
	if got := string(resource.Error().Path("data").Raw()); got != `{"uri":"file:///x"}` {
		t.Errorf("the data of a missing resource: %s", got)
	}
	s.call("list_workflows", args{}).fine()
}

// TestW5DetailsThatCannotBeSentAreReplaced checks that the code and the other members of the envelope are kept.
func TestW5DetailsThatCannotBeSentAreReplaced(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start("--drill")
	a := s.call("drill", args{"kind": "unsendable"}).is("PRECONDITION_FAILED").wellFormed()
	details := a.envelope().Path("details")
	if !details.Present() || len(details.Raw()) > 8192 {
		t.Errorf("details %.300s", details.Raw())
	}
	s.call("drill", args{"kind": "huge"}).is("PRECONDITION_FAILED").wellFormed()
}

// TestW6TextsAreBoundedBetweenCharacters sends multi-byte texts to everything that is echoed.
func TestW6TextsAreBoundedBetweenCharacters(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start("--drill")
	s.call("drill", args{"kind": "huge"}).is("PRECONDITION_FAILED").bounded()
	for _, unit := range []string{"é", "…", "𝄞", "a…", "ab…", "\n...truncated...\n"} {
		text := strings.Repeat(unit, 60_000/len(unit))
		s.call("start_workflow", args{"workflowId": text[:len(unit)*(128/len(unit)/2)]}).is("NOT_FOUND").wellFormed()
		s.call("start_workflow", args{"workflowId": text}).is("VALIDATION_ERROR").wellFormed()
		s.call("start_workflow", args{text: 1}).is("VALIDATION_ERROR").wellFormed()
		s.call("continue_workflow", args{"continueToken": text[:len(unit)*(240/len(unit)/2)]}).is("TOKEN_INVALID_FORMAT").wellFormed()
		s.call(text, args{}).is("TOOL_NOT_FOUND").bounded()
		deep := any(1)
		for range 70 {
			deep = args{text[:len(unit)*10]: deep}
		}
		a := s.call("start_workflow", args{"workflowId": "plain", "context": deep}).is("VALIDATION_ERROR").wellFormed()
		if path := a.detail("path"); len(path) > 200 || path == "" {
			t.Errorf("the path has %d bytes", len(path))
		}
		b := s.reach("producing", args{"output": args{"n": text, text: 1}}).kind("blocked")
		b.wellBlocked()
	}
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
