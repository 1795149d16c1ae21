package candor_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
)

var advice = []candor.Retry{candor.NoRetry(), candor.RetryNow(), candor.RetryIn(2 * time.Second)}

// words are suggestions, each with the advice that it contradicts.
var words = map[string][3]bool{ // never, immediate, after
	"Try again.":                              {true, false, false},
	"Retry the call.":                         {true, false, false},
	"Please retry immediately.":               {true, false, true},
	"Do not retry.":                           {false, true, true},
	"This is permanent, give up.":             {false, true, true},
	"List the folder and name a file.":        {false, false, false},
	"Correct the path, then call it again.":   {false, false, false},
	"Do not try again before the window ends": {false, true, false},
}

// TestW14SuggestionsNeverContradictRetry checks that the suggestion of an error agrees with its retry advice, whatever the options
// and their order.
func TestW14SuggestionsNeverContradictRetry(t *testing.T) {
	t.Run("the words", func(t *testing.T) {
		for text, want := range words {
			for i, r := range advice {
				if bad := candor.CheckSuggestion(r, text) != nil; bad != want[i] {
					t.Errorf("%q beside %v: contradiction %v, want %v", text, r, bad, want[i])
				}
			}
		}
		if candor.CheckSuggestion(candor.NoRetry(), "") != nil {
			t.Error("no words contradict nothing")
		}
	})
	t.Run("the catalogue", func(t *testing.T) {
		for c := range candor.Codes() {
			if err := candor.CheckSuggestion(c.Retry(), c.Action()); err != nil {
				t.Errorf("%v: %v", c, err)
			}
			if e := candor.New(c, ""); e.Suggestion() != c.Action() || e.Validate() != nil {
				t.Errorf("%v: suggestion %q, %v", c, e.Suggestion(), e.Validate())
			}
			for _, r := range advice {
				agrees(t, candor.New(c, "", candor.WithRetry(r)))
				agrees(t, candor.New(c, "").With(candor.WithRetry(r)))
				if err := candor.New(c, "").With(candor.WithRetry(r)).Validate(); err != nil {
					t.Errorf("%v with %v: nobody suggested anything, yet %v", c, r, err)
				}
			}
		}
	})
	t.Run("the constructors", func(t *testing.T) {
		for text := range words {
			for c := range candor.Codes() {
				s := candor.WithSuggestion(text)
				agrees(t, candor.NotRetryable(c, "", s))
				agrees(t, candor.RetryableImmediately(c, "", s))
				agrees(t, candor.RetryableAfter(c, time.Second, "", s))
				agrees(t, candor.ToolFailure(c, "t", "", s))
				agrees(t, candor.StartupFailure(c, "", s))
			}
			agrees(t, candor.InvariantViolation("I", "", candor.WithSuggestion(text)))
			agrees(t, candor.From(errEOF, candor.WithSuggestion(text), candor.Otherwise(candor.CodeTimeout)))
		}
	})
}

func agrees(t *testing.T, e *candor.Error) {
	t.Helper()
	if err := candor.CheckSuggestion(e.Retry(), e.Suggestion()); err != nil {
		t.Errorf("%v: %v", e.Code(), err)
	}
}

// TestSuggestionAndRetryCommute checks that the same options give the same error, applied at once or one by one, in any order.
func TestSuggestionAndRetryCommute(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var codes []candor.Code
	for c := range candor.Codes() {
		codes = append(codes, c)
	}
	for text, bad := range words {
		for i, retry := range advice {
			c := codes[r.IntN(len(codes))]
			a, b := candor.WithSuggestion(text), candor.WithRetry(retry)
			want := candor.New(c, "", a, b)
			agrees(t, want)
			if (want.Validate() != nil) != bad[i] {
				t.Errorf("%q beside %v: Validate() = %v", text, retry, want.Validate())
			}
			if !bad[i] && want.Suggestion() != text {
				t.Errorf("%q beside %v is fine and was not taken: %q", text, retry, want.Suggestion())
			}
			for how, e := range map[string]*candor.Error{
				"the other order": candor.New(c, "", b, a), "with": candor.New(c, "").With(a, b), "with, with": candor.New(c, "").With(a).With(b),
				"with, with, the other order": candor.New(c, "").With(b).With(a), "many": candor.New(c, "").With(a).With(candor.WithTool("")).With(b).With(),
			} {
				if e.Suggestion() != want.Suggestion() || e.Retry() != want.Retry() || (e.Validate() == nil) != (want.Validate() == nil) {
					t.Errorf("%s: %q, %v, %v; want %q, %v, %v", how, e.Suggestion(), e.Retry(), e.Validate(), want.Suggestion(), want.Retry(), want.Validate())
				}
			}
		}
	}
	mended := candor.NotRetryable(codes[0], "", candor.WithSuggestion("Try again.")).With(candor.WithSuggestion("Ask the owner."))
	if mended.Validate() != nil || mended.Suggestion() != "Ask the owner." {
		t.Errorf("a replaced suggestion still counts: %v, %q", mended.Validate(), mended.Suggestion())
	}
}
