package candor

import (
	"encoding/json"
	"os"
	"testing"
)

// TestWrittenExamplesHoldAtRunTime runs the language-neutral examples against the generated table.
func TestWrittenExamplesHoldAtRunTime(t *testing.T) {
	data, err := os.ReadFile("spec/contradictions.json")
	if err != nil {
		t.Fatal(err)
	}
	var spec struct {
		Examples []struct {
			Retry RetryKind `json:"retry"`
			Text  string    `json:"text"`
			Finds string    `json:"finds"`
		} `json:"examples"`
	}
	if err := json.Unmarshal(data, &spec); err != nil {
		t.Fatal(err)
	}
	kinds := map[RetryKind]Retry{RetryNever: NoRetry(), RetryImmediate: RetryNow(), RetryAfterMs: RetryIn(1)}
	for _, x := range spec.Examples {
		if phrase, bad := contradicts(kinds[x.Retry], x.Text); phrase != x.Finds || bad != (x.Finds != "") {
			t.Errorf("%s, %q: found %q, want %q", x.Retry, x.Text, phrase, x.Finds)
		}
	}
}

// TestActionsAgreeWithTheirAdvice checks that the action of a code does not contradict its default advice, so that it can be used
// unchecked.
func TestActionsAgreeWithTheirAdvice(t *testing.T) {
	for code := range Codes() {
		if phrase, bad := contradicts(code.Retry(), code.Action()); bad {
			t.Errorf("%s: the action says %q", code, phrase)
		}
	}
}
