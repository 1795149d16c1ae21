package workrail_test

import (
	"strings"
	"testing"
)

// texts returns all text blocks of an answer, which is all that many models see.
func (a answer) texts() string {
	var all []string
	for block := range a.m.Result().Path("content").Elements() {
		text, _ := block.Path("text").Str()
		all = append(all, text)
	}
	return strings.Join(all, "\n")
}

// says requires these texts in an answer, in this order.
func (a answer) says(want ...string) {
	a.t.Helper()
	text := a.texts()
	rest := text
	for _, w := range want {
		_, after, found := strings.Cut(rest, w)
		if !found {
			a.t.Errorf("the text does not say %q, or not in this order: %s", w, text)
			return
		}
		rest = after
	}
}

// demandingWork has a step with all kinds of requirements, and guidance for all steps.
const demandingWork = `id: work
name: Work
guidance: [Change nothing else.]
steps:
  - {id: look, title: Look around, prompt: Look., notes: required}
  - {id: do, title: Do the work, prompt: Do as asked., notes: required, requires: [fact], output: {description: The count., schema: {type: object, required: [n]}}, askUser: {question: "Which one?", key: choice}}
  - {id: last, prompt: End., notes: optional}
`

// TestResumingABlockedSessionShowsTheWholeStep checks the text after a restart, for an agent that reads only text.
func TestResumingABlockedSessionShowsTheWholeStep(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(p.workflows+"/demands.yaml", demandingWork)
	s := p.start()
	a := s.begin("work", nil)
	a = s.call("continue_workflow", args{"continueToken": a.token(), "notes": "Seen."}).kind("step")
	b := s.call("continue_workflow", args{"continueToken": a.token(), "context": args{"fact": 1}}).kind("blocked")
	b.says("Nothing of this call was kept: send everything again, with these corrections.")
	if !strings.Contains(b.data("note"), "Nothing of this call was kept") {
		t.Errorf("the data does not say it: %s", b.m.Result().Path("structuredContent").Raw())
	}
	s.Kill()
	s = p.start()
	s.call("resume_session", args{}).fine().says("at step do, blocked by ", "MISSING_REQUIRED_NOTES")
	r := s.call("resume_session", args{"sessionId": a.data("sessionId")}).kind("blocked")
	r.says("Step do: Do the work", "Do as asked.", "The count.", `"required":["n"]`, "Which one?", "Blocked:", "nothing of it was kept", "MISSING_REQUIRED_NOTES", r.token())
	s.call("continue_workflow", args{"continueToken": r.token(), "notes": "Done.", "output": args{"n": 1}, "context": args{"fact": 1, "choice": "x"}}).kind("step")
}
