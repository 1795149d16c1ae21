package kaiza_test

import (
	"encoding/json"
	"strings"

	"github.com/candor-mcp/candor/contract"
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

// shown checks that the text that a model sees contains all information of the envelope: the retry advice, the next step, the
// reference, and all details, because a suggestion may refer to them.
func (a answer) shown() {
	a.t.Helper()
	text, e := a.texts(), a.canonical()
	for _, line := range []string{"\nRetry: ", "\nRef: "} {
		if !strings.Contains(text, line) {
			a.t.Errorf("there is no line %q in %q", strings.TrimSpace(line), text)
		}
	}
	suggestion, _ := e.Path("suggestion").Str()
	// The line of the retry advice replaces the words that repeat it.
	if _, rest, two := strings.Cut(suggestion, "send the same call again; "); two && strings.Contains(text, "\nRetry: after ") {
		text, suggestion = strings.ToLower(text), rest
	}
	if suggestion == contract.CheckEffect {
		suggestion = "checking whether the call took effect" // in the line Retry
	}
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
