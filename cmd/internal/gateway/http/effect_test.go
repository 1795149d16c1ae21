package httpgate

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/contract"
)

const writeTools = `{"name":"slack_post_message"},{"name":"get_page","annotations":{"readOnlyHint":true}},` +
	`{"name":"put_item","annotations":{"idempotentHint":true}},{"name":"shy","annotations":{"destructiveHint":false,"readOnlyHint":false}}`

// newWriteServer answers every tool call with the last value of says.
func newWriteServer(t *testing.T, o gateway.Options, says *atomic.Value) *guarded {
	t.Helper()
	o.Repeats.Off, o.Breaker.Off = true, true
	answer := func(string) string { return fmt.Sprint(says.Load()) }
	return newGuarded(t, o, writeTools, map[string]func(string) string{
		"slack_post_message": answer, "get_page": answer, "put_item": answer, "shy": answer, "unlisted": answer,
	})
}

// A retry of a call that may have taken effect is not advised, whatever the failure says; the delay is kept.
func TestRetryAdviceNeverInvitesASecondEffect(t *testing.T) {
	for _, mode := range []gateway.Mode{gateway.ModeAnnotate, gateway.ModeStrict} {
		var answer atomic.Value
		g := newWriteServer(t, gateway.Options{Mode: mode, Validate: gateway.ValidationOff}, &answer)
		for _, says := range []string{
			toolFails("Slack API error: 500 Internal Server Error"), toolFails("socket hang up"), toolFails("read ECONNRESET"),
			toolFails("503 Service Unavailable"), toolFails("Request timed out"), toolFails("504 Gateway Timeout"), "HTTP 500", "HTTP 502", "HTTP 503", "HTTP 504",
			`{"content":[{"type":"text","text":"{\"error\":{\"message\":\"try later\",\"retryable\":true,\"retryAfterMs\":300}}"}],"isError":true}`,
		} {
			answer.Store(says)
			for _, tool := range []string{"slack_post_message", "shy", "unlisted"} {
				got := g.call(tool, `{"text":"hi"}`)
				if got.Code == "" || got.Retry.Kind != "not_retryable" || !strings.HasPrefix(got.Suggestion, contract.CheckEffect) {
					t.Errorf("%s, %s: %s: %+v", mode, tool, says, got)
				}
				if mode == gateway.ModeAnnotate && got.Details.Said.Retry == "" {
					t.Errorf("%s: %s: the advice is lost: %+v", tool, says, got)
				}
			}
			for _, tool := range []string{"get_page", "put_item"} {
				if got := g.call(tool, `{}`); !strings.HasPrefix(got.Retry.Kind, "retryable") && mode == gateway.ModeAnnotate {
					t.Errorf("%s: %s: %+v", tool, says, got)
				}
			}
		}
	}
}

// Failures that prove that the call had no effect keep their advice.
func TestRetryAdviceIsKeptWhereNothingWasDone(t *testing.T) {
	var answer atomic.Value
	g := newWriteServer(t, gateway.Options{}, &answer)
	for _, says := range []string{toolFails("429 Too Many Requests"), "HTTP 429", toolFails("connect ECONNREFUSED 127.0.0.1:443"), toolFails("getaddrinfo ENOTFOUND slack.example")} {
		answer.Store(says)
		if got := g.call("slack_post_message", `{}`); got.Retry.Kind != "retryable_after_ms" || strings.Contains(got.Suggestion, "took effect") {
			t.Errorf("%s: %+v", says, got)
		}
	}
}

// The operator's rule for the tool takes precedence.
func TestRetryAdviceOfARuleIsKept(t *testing.T) {
	wait := candor.RetryIn(3 * time.Second)
	rules := &gateway.Rules{Masks: []gateway.Mask{{Tool: "slack_post_message", Text: "^queued", Code: candor.CodeUpstreamUnavailable, Retry: &wait}}}
	if err := rules.Compile(); err != nil {
		t.Fatal(err)
	}
	var says atomic.Value
	says.Store(toolSays("queued: not sent yet"))
	g := newWriteServer(t, gateway.Options{Rules: rules}, &says)
	if got := g.call("slack_post_message", `{}`); got.Retry.AfterMs != 3000 {
		t.Errorf("%+v", got)
	}
}

// The server is unreachable: a retry is advised, and the gateway itself may retry.
func TestRetryAdviceIsKeptWhereTheServerCannotBeReached(t *testing.T) {
	var says atomic.Value
	says.Store(toolSays("done"))
	g := newWriteServer(t, gateway.Options{}, &says)
	g.server.Close()
	if got := g.call("slack_post_message", `{}`); got.Code != "UPSTREAM_UNREACHABLE" || got.Retry.Kind != "retryable_after_ms" {
		t.Errorf("%+v", got)
	}
}
