package gateway

import (
	"context"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

// lastFailure is a ledger that keeps the last failure.
type lastFailure struct{ candor.Failure }

func (l *lastFailure) RecordFailure(_ context.Context, f candor.Failure) error {
	l.Failure = f
	return nil
}

// TestSuspectedMaskMatchesOnlySuspectedAnswers has a rule with a path that also matches an answer that is not suspected.
func TestSuspectedMaskMatchesOnlySuspectedAnswers(t *testing.T) {
	t.Parallel()
	rules := &Rules{Masks: []Mask{{Tool: "price", Path: "/error", Suspected: true}}}
	if err := rules.Compile(); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]struct{ ruled, plain bool }{ // whether it is a certain failure with the rule, and a suspected one without
		`{\"error\":\"no such item\"}`:         {true, true},
		`{\"error\":\"\",\"items\":[1,2,3]}`:   {false, false},
		`{\"error\":false,\"total\":12}`:       {false, false},
		`{\"success\":false,\"reason\":\"x\"}`: {false, true},
	} {
		for _, r := range []*Rules{rules, nil} {
			kept := &lastFailure{}
			up := New(Options{Name: "shop", Rules: r, Ledger: kept})
			m := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"price","arguments":{"item":"a"}}}`), wire.Limits{})
			up.NewCall(&m, "s1").Close(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"`+text+`"}]}}`))
			certain := kept.Error != nil && !kept.Suspected
			if certain != (want.ruled && r != nil) {
				t.Errorf("%s, rules %v: a certain failure: %v", text, r != nil, certain)
			}
			if r == nil && kept.Suspected != want.plain {
				t.Errorf("%s: suspected: %v", text, kept.Suspected)
			}
			if kept.Suspected != (kept.Rule != "") || kept.Suspected && kept.Source != "own" {
				t.Errorf("%s: suspected %v by the rule %q, source %q", text, kept.Suspected, kept.Rule, kept.Source)
			}
		}
	}
}

// TestRetryAdviceOfARuleIsKept has a tool that may write; after its failures the gateway otherwise advises against a retry.
func TestRetryAdviceOfARuleIsKept(t *testing.T) {
	t.Parallel()
	wait, kept := candor.RetryIn(3*time.Second), &lastFailure{}
	rules := &Rules{Masks: []Mask{{Tool: "post", Text: "^queued", Code: candor.CodeUpstreamUnavailable, Retry: &wait}}}
	if err := rules.Compile(); err != nil {
		t.Fatal(err)
	}
	answerWith(t, New(Options{Rules: rules, Ledger: kept}), "post", `{"content":[{"type":"text","text":"queued: not sent yet"}]}`)
	if kept.Error == nil || kept.Error.Retry() != wait {
		t.Errorf("recorded %+v", kept.Failure)
	}
}
