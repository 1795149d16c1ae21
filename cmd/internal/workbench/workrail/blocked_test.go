package workrail_test

import (
	"strings"
	"testing"
)

// wellBlocked checks the shape and the budget of a report of blockers.
func (a answer) wellBlocked() {
	a.t.Helper()
	if a.failed() || a.m.Result().Path("isError").Present() {
		a.t.Errorf("blocked is shown as an error: %s", a.m.Bytes())
	}
	content := a.m.Result().Path("structuredContent")
	if retryable, _ := content.Path("retryable").Bool(); !retryable || a.data("retryContinueToken") == "" {
		a.t.Errorf("there is no token to go on with: %s", content.Raw())
	}
	text, _ := a.m.Result().Path("content", 0, "text").Str()
	if !strings.Contains(text, a.data("retryContinueToken")) {
		a.t.Errorf("the text does not hold the token: %s", text)
	}
	count, last := 0, ""
	for b := range content.Path("blockers", "blockers").Elements() {
		count++
		code, _ := b.Path("code").Str()
		message, _ := b.Path("message").Str()
		fix, _ := b.Path("suggestedFix").Str()
		if message == "" || len(message) > 512 || len(fix) > 1024 || !strings.Contains(fix, "retryContinueToken") {
			a.t.Errorf("not a blocker within its budget: %s", b.Raw())
		}
		if code < last {
			a.t.Errorf("%s follows %s", code, last)
		}
		if !strings.Contains(text, code) || !strings.Contains(text, fix) {
			a.t.Errorf("the text does not say %s: %s", b.Raw(), text)
		}
		last = code
	}
	if count == 0 || count > 10 {
		a.t.Errorf("%d blockers", count)
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
		if b.detail("codes", 0) != "MISSING_REQUIRED_NOTES" || strings.Contains(string(b.m.Bytes()), "retryContinueToken from this answer") {
			t.Errorf("the failure names a token that it does not hold: %s", b.m.Bytes())
		}
	}
	s.call("continue_workflow", args{"continueToken": a.token(), "notes": "n"}).kind("step")
}

// TestW16AReportOverBudgetFails checks that such a report, which is a bug in the server, is an error and not truncated.
func TestW16AReportOverBudgetFails(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start("--drill")
	for _, kind := range []string{"too_many_blockers", "long_blocker_message", "long_blocker_fix"} {
		a := s.call("drill", args{"kind": kind}).is("INTERNAL_ERROR")
		if a.detail("kind") != "blocker_report_over_budget" {
			t.Errorf("%s: %s", kind, a.envelope().Raw())
		}
	}
}

// TestW16LongNamesFitTheBudget blocks a step whose names have the maximum length of a workflow file.
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
		"], output: {description: \"" + strings.Repeat("…", 500) + "\"}, askUser: {question: \"" + strings.Repeat("?…", 900) + "\", key: " + strings.Repeat("k", 128) + "}}\n"
	p.write(p.workflows+"/deep.yaml", text)
	s := p.start()
	if v := s.call("validate_workflow", args{"file": "deep.yaml"}).fine(); !strings.Contains(string(v.m.Bytes()), `"valid":true`) {
		t.Fatalf("the workflow is not valid: %s", v.m.Bytes())
	}
	a := s.call("start_workflow", args{"workflowId": "deep", "context": args{"items": []int{1}}}).fine()
	b := s.call("continue_workflow", args{"continueToken": a.token()}).kind("blocked")
	b.wellBlocked()
	give := args{}
	for _, k := range append(keys, strings.Repeat("k", 128)) {
		give[k] = "v"
	}
	able := args{}
	for _, c := range capabilities {
		able[c] = true
	}
	give["capabilities"], give["items"] = able, []int{2}
	s.call("continue_workflow", args{"continueToken": b.token(), "notes": "n", "output": 1, "context": give}).kind("blocked").wellBlocked()
}
