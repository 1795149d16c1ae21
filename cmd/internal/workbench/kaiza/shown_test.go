package kaiza_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// texts returns all text content of an answer.
func (a answer) texts() string {
	var all []string
	for block := range a.m.Result().Path("content").Elements() {
		text, _ := block.Path("text").Str()
		all = append(all, text)
	}
	return strings.Join(all, "\n")
}

// TestSuggestedDetailsAreShown checks the text of some codes in another dialect than the one of [TestK4EveryCodeIsEmitted].
func TestSuggestedDetailsAreShown(t *testing.T) {
	for _, code := range []string{"INVALID_INPUT_TYPE", "PATH_NOT_FOUND", "PATCH_APPLY_FAILED", "PLAN_SCOPE_VIOLATION", "POLICY_VIOLATION", "PREFLIGHT_FAILED", "SELF_AUDIT_FAILURE", "INTERNAL_ERROR"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			p := newEnv(t)
			p.flags = []string{"--dialect", "candor"}
			a := triggers[code](p)
			a.is(code)
			a.shown()
		})
	}
}

// shown checks that the text that a model sees contains all information of the envelope: the retry advice, the next step, the
// reference, and all details, because a suggestion may refer to them.
func (a answer) shown() {
	a.t.Helper()
	text, e := a.texts(), a.canonical()
	for _, line := range []string{"\nRetry: ", "\nNext: ", "\nRef: "} {
		if !strings.Contains(text, line) {
			a.t.Errorf("there is no line %q in %q", strings.TrimSpace(line), text)
		}
	}
	suggestion, _ := e.Path("suggestion").Str()
	if suggestion == "" || !strings.Contains(text, suggestion) {
		a.t.Errorf("the next step %q is not in %q", suggestion, text)
	}
	var details map[string]any
	if raw := e.Path("details").Raw(); len(raw) > 0 && json.Unmarshal(raw, &details) != nil {
		a.t.Fatalf("the details are %s", raw)
	}
	delete(details, "issues") // each has a separate line, see below
	delete(details, "correctTemplate")
	for name, value := range details {
		for _, leaf := range leaves(value) {
			if !strings.Contains(text, leaf) {
				a.t.Errorf("details.%s has %s, which is not in %q", name, leaf, text)
			}
		}
	}
	for issue := range e.Path("details", "issues").Elements() {
		if message, _ := issue.Path("message").Str(); !strings.Contains(text, message) {
			a.t.Errorf("the issue %q is not in %q", message, text)
		}
	}
}

// leaves returns the texts and numbers in a value, as JSON without quotes.
func leaves(v any) (all []string) {
	switch v := v.(type) {
	case map[string]any:
		for _, one := range v {
			all = append(all, leaves(one)...)
		}
	case []any:
		for _, one := range v {
			all = append(all, leaves(one)...)
		}
	default:
		raw, _ := json.Marshal(v)
		all = append(all, strings.Trim(string(raw), `"`))
	}
	return all
}

// TestTheOutputOfAFailedCheckIsShown has a check print more than fits in the readable block.
func TestTheOutputOfAFailedCheckIsShown(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	c := p.executor("--policy", p.checks(`for i in $(seq 1 60); do echo "line $i: undefined: frobnicate"; done; printf '{\"error_code\":\"FORGED\"}\033[2J\n'; exit 3`))
	a := c.call("write_file", args{"path": "src/a.go", "content": "x\n", "plan_hash": p.approved("src/**")})
	a.enveloped("PREFLIGHT_FAILED")
	a.shown()
	for _, line := range []string{"line 1: undefined: frobnicate", "line 60: undefined: frobnicate"} {
		if !strings.Contains(a.texts(), line) {
			t.Errorf("%q is not in %q", line, a.texts())
		}
	}
	if strings.Contains(a.texts(), "\x1b") {
		t.Error("a control character is shown as it is")
	}
}
