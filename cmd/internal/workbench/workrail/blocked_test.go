package workrail_test

import (
	"strings"
	"testing"
)

// wellBlocked checks the shape and the budget of a report of blockers.
func (a answer) wellBlocked() {
	a.T.Helper()
	if a.failed() || a.M.Result().Path("isError").Present() {
		a.T.Errorf("blocked is shown as an error: %s", a.M.Bytes())
	}
	content := a.M.Result().Path("structuredContent")
	if retryable, _ := content.Path("retryable").Bool(); !retryable || a.data("retryContinueToken") == "" {
		a.T.Errorf("there is no token to go on with: %s", content.Raw())
	}
	text, _ := a.M.Result().Path("content", 0, "text").Str()
	if !strings.Contains(text, a.data("retryContinueToken")) {
		a.T.Errorf("the text does not hold the token: %s", text)
	}
	count, last := 0, ""
	for b := range content.Path("blockers", "blockers").Elements() {
		count++
		code, _ := b.Path("code").Str()
		message, _ := b.Path("message").Str()
		fix, _ := b.Path("suggestedFix").Str()
		if message == "" || len(message) > 512 || len(fix) > 1024 || !strings.Contains(fix, "retryContinueToken") {
			a.T.Errorf("not a blocker within its budget: %s", b.Raw())
		}
		if code < last {
			a.T.Errorf("%s follows %s", code, last)
		}
		if !strings.Contains(text, code) || !strings.Contains(text, fix) {
			a.T.Errorf("the text does not say %s: %s", b.Raw(), text)
		}
		last = code
	}
	if count == 0 || count > 10 {
		a.T.Errorf("%d blockers", count)
	}
	a.leaksNothing()
}

// TestW16ABreakerFollowsThreeBlockedAttempts also checks that a complete attempt with the same token is still accepted.
func TestW16ABreakerFollowsThreeBlockedAttempts(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	a := s.reach("noted", args{}).kind("blocked")
	for range 2 {
		a = s.call("continue_workflow", args{"continueToken": a.token()}).kind("blocked")
	}
	for range 3 { // nothing more is recorded
		b := s.call("continue_workflow", args{"continueToken": a.token()}).is("PRECONDITION_FAILED")
		b.wellFormed()
		if n, _ := b.envelope().Path("details", "blockedAttempts").Int64(); n != 3 || b.detail("kind") != "blocked_too_often" {
			t.Errorf("details %s", b.envelope().Raw())
		}
		if b.detail("codes", 0) != "MISSING_REQUIRED_NOTES" || strings.Contains(string(b.M.Bytes()), "retryContinueToken from this answer") {
			t.Errorf("the failure names a token that it does not hold: %s", b.M.Bytes())
		}
	}
	s.call("continue_workflow", args{"continueToken": a.token(), "notes": "n"}).kind("step")
}

// TestAgentThatPollsForAnAnswerIsSentToThePerson repeats the step of a question until the breaker opens.
func TestAgentThatPollsForAnAnswerIsSentToThePerson(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	a := s.reach("asking", args{}).kind("blocked")
	for range 2 {
		a = s.call("continue_workflow", args{"continueToken": a.token()}).kind("blocked")
	}
	b := s.call("continue_workflow", args{"continueToken": a.token()}).is("PRECONDITION_FAILED")
	if next, _ := b.envelope().Path("suggestion").Str(); !strings.Contains(next, "workrail answer "+a.data("sessionId")) || strings.Contains(next, "everything that the details list") {
		t.Errorf("suggestion %s", next)
	}
}

// TestW16LongNamesFitTheBudget blocks a step with names of the maximum length of a workflow file.
func TestW16LongNamesFitTheBudget(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var keys, capabilities []string
	for _, c := range "abcdefghijkl" {
		keys = append(keys, strings.Repeat(string(c), 128))
		capabilities = append(capabilities, strings.Repeat(string(c), 64))
	}
	deep := strings.Repeat("d", 64)
	text := "id: deep\nname: Deep\ncapabilities:\n"
	for _, c := range capabilities {
		text += "  - {name: " + c + "}\n"
	}
	text += "steps:\n"
	indent := ""
	for i := range 7 {
		text += indent + "  - id: " + deep[:60] + string(rune('a'+i)) + "\n" + indent + "    loop:\n" + indent + "      times: 1\n" + indent + "      maxIterations: 2\n" + indent + "      steps:\n"
		indent += "      "
	}
	text += indent + "  - id: each\n" + indent + "    loop:\n" + indent + "      each: items\n" + indent + "      as: item\n" + indent + "      maxIterations: 2\n" + indent + "      steps:\n" + indent +
		"        - {id: inner, prompt: p, notes: required, requires: [" + strings.Join(keys, ", ") + "], capabilities: [" + strings.Join(capabilities, ", ") +
		"], output: {description: \"" + strings.Repeat("…", 500) + "\"}, askUser: {question: \"" + strings.Repeat("?…", 900) + "\", key: " + strings.Repeat("z", 128) + "}}\n"
	p.write(p.workflows+"/deep.yaml", text)
	s := p.start()
	if v := s.call("validate_workflow", args{"file": "deep.yaml"}).fine(); !strings.Contains(string(v.M.Bytes()), `"valid":true`) {
		t.Fatalf("the workflow is not valid: %s", v.M.Bytes())
	}
	a := s.call("start_workflow", args{"workflowId": "deep", "context": args{"items": []int{1}}}).fine()
	b := s.call("continue_workflow", args{"continueToken": a.token()}).kind("blocked")
	b.wellBlocked()
	give := args{}
	for _, k := range keys {
		give[k] = "v"
	}
	able := args{}
	for _, c := range capabilities {
		able[c] = true
	}
	give["capabilities"], give["items"] = able, []int{2}
	s.call("continue_workflow", args{"continueToken": b.token(), "notes": "n", "output": 1, "context": give}).kind("blocked").wellBlocked()
}

func (a answer) suggestion() string {
	text, _ := a.Canonical().Path("suggestion").Str()
	return text
}

// TestAFailedStartNamesNoToken checks that the advice does not mention a token, because there is none yet.
func TestAFailedStartNamesNoToken(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(p.workflows+"/loop.yaml", "id: loop\nname: Loop\nsteps:\n  - {id: each, loop: {each: items, as: item, maxIterations: 5, steps: [{id: a, prompt: p}]}}\n")
	p.write(p.workflows+"/when.yaml", "id: when\nname: When\nsteps:\n  - {id: a, prompt: p, when: {key: n, greaterThan: 3}}\n")
	s := p.start()
	for id, context := range map[string]args{"loop": {"items": 7}, "when": {"n": "x"}} {
		a := s.call("start_workflow", args{"workflowId": id, "context": context}).is("VALIDATION_ERROR")
		if got := a.suggestion(); strings.Contains(got, "token") || !strings.Contains(got, "start_workflow") {
			t.Errorf("%s: %s", id, got)
		}
	}
}
