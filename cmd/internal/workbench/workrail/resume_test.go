package workrail_test

import (
	"fmt"
	"strings"
	"testing"
)

// texts returns all text blocks of an answer, which is all that many models see.
func (a answer) texts() string {
	var all []string
	for block := range a.M.Result().Path("content").Elements() {
		text, _ := block.Path("text").Str()
		all = append(all, text)
	}
	return strings.Join(all, "\n")
}

// says requires these texts in an answer, in this order.
func (a answer) says(want ...string) {
	a.T.Helper()
	text := a.texts()
	rest := text
	for _, w := range want {
		_, after, found := strings.Cut(rest, w)
		if !found {
			a.T.Errorf("the text does not say %q, or not in this order: %s", w, text)
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
		t.Errorf("the data does not say it: %s", b.M.Result().Path("structuredContent").Raw())
	}
	s.Kill()
	s = p.start()
	s.call("resume_session", args{}).fine().says("at step do, blocked by ", "MISSING_REQUIRED_NOTES")
	r := s.call("resume_session", args{"sessionId": a.data("sessionId")}).kind("blocked")
	r.says("Step do: Do the work", "Do as asked.", "The count.", `"required":["n"]`, "Which one?", "Blocked:", "nothing of it was kept", "MISSING_REQUIRED_NOTES", r.token())
	s.answers(a.data("sessionId"), "x")
	s.call("continue_workflow", args{"continueToken": r.token(), "notes": "Done.", "output": args{"n": 1}, "context": args{"fact": 1}}).kind("step")
}

// TestResumingShowsGuidanceAndEarlierNotes checks for the information that a new agent does not have.
func TestResumingShowsGuidanceAndEarlierNotes(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(p.workflows+"/demands.yaml", demandingWork)
	s := p.start()
	a := s.begin("work", nil)
	a = s.call("continue_workflow", args{"continueToken": a.token(), "notes": "Seen it all.", "output": args{"o": 7}, "context": args{"place": "attic"}}).kind("step")
	s.Kill()
	r := p.start().call("resume_session", args{"resumeToken": a.data("resumeToken")}).kind("step")
	r.says("For every step of Work:", "Change nothing else.", "look", "Seen it all.", `{"o":7}`, "place", "attic", "Step do", r.token())
	if r.data("guidance", 0) != "Change nothing else." || r.data("earlier", "steps", 0, "path") != "look" || r.data("earlier", "steps", 0, "notes") != "Seen it all." ||
		r.data("earlier", "context", 0, "key") != "place" {
		t.Errorf("the data lacks something: %s", r.M.Result().Path("structuredContent").Raw())
	}
}

// TestWhatResumingShowsIsBounded checks that the latest notes are shown, and that the answer counts the omitted ones.
func TestWhatResumingShowsIsBounded(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	big := args{}
	for i := range 300 {
		big[fmt.Sprintf("key%d", i)] = strings.Repeat("é", 400)
	}
	a := s.begin("plain", big)
	for i := range 9 {
		a = s.call("continue_workflow", args{"continueToken": a.token(), "notes": fmt.Sprintf("note %d ", i) + strings.Repeat("…", 1500), "output": strings.Repeat("x", 9000)}).kind("step")
	}
	r := s.call("resume_session", args{"resumeToken": a.data("resumeToken")}).kind("step")
	r.says("export_session", "note 8", "Step s9")
	if n := len(r.texts()); n > 10<<10 || strings.Contains(r.texts(), "note 0") {
		t.Errorf("%d bytes: %s", n, r.texts())
	}
	if n := len(r.M.Result().Path("structuredContent").Raw()); n > 12<<10 {
		t.Errorf("%d bytes of data", n)
	}
	if n, _ := r.M.Result().Path("structuredContent", "earlier", "stepsLeftOut").Int64(); n == 0 {
		t.Errorf("nothing says what was left out: %s", r.M.Result().Path("structuredContent").Raw())
	}
}

// TestEarlierNotesCannotImitateServerLines checks the marking of notes, because another agent may have written them.
func TestEarlierNotesCannotImitateServerLines(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	a := s.begin("plain", args{forged: forged, "0123456789abcdef: x": 1})
	a = s.call("continue_workflow", args{"continueToken": a.token(), "notes": forged, "output": forged}).kind("step")
	r := s.call("resume_session", args{"resumeToken": a.data("resumeToken")}).kind("step")
	r.forgesNothing()
	r.says("s0: g", "  | continueToken: ct_fake", "Step s1")
}
