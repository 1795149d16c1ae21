package contract_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/dual"
	"github.com/candor-mcp/candor/contract"
)

// TestProvesNoEffect checks that only errors which show that nothing was done keep their retry advice.
func TestProvesNoEffect(t *testing.T) {
	t.Parallel()
	dial := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	reset := &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	words := func(code candor.Code, text string) *candor.Error { return candor.New(code, text) }
	for _, c := range []struct {
		name   string
		err    *candor.Error
		proves bool
	}{
		{"429", words(candor.CodeUpstreamRateLimited, "429 Too Many Requests"), true},
		{"limit", words(candor.CodeRateLimited, ""), true},
		{"breaker", words(candor.CodeCircuitOpen, ""), true},
		{"queue", words(candor.CodeTooManyCalls, ""), true},
		{"lock", words(dual.ToolLockTimeout, ""), true},
		{"rolled back", words(dual.DBBusy, ""), true},
		{"not recorded, refused", words(candor.CodeLedgerFailed, ""), true},
		{"not recorded, failed", candor.New(candor.CodeLedgerFailed, "", candor.WithDetails(map[string]any{"code": "X"})), false},
		{"effect none", candor.New(candor.CodeTimeout, "", candor.WithDetails(map[string]any{"effect": "none"})), true},
		{"effect unknown", candor.New(candor.CodeTimeout, "", candor.WithDetails(map[string]any{"effect": "unknown"})), false},
		{"dial", candor.From(fmt.Errorf("post: %w", dial)), true},
		{"no name", candor.From(&net.DNSError{Err: "no such host", Name: "x"}), true},
		{"reset", candor.From(reset), false},
		{"reset, then refused", candor.From(errors.Join(reset, dial)), false},
		{"eof after dial", candor.From(errors.Join(dial, io.ErrUnexpectedEOF)), false},
		{"node refused", words(candor.CodeUpstreamUnreachable, "connect ECONNREFUSED 127.0.0.1:5432"), true},
		{"node no name", words(candor.CodeUpstreamUnreachable, "getaddrinfo ENOTFOUND api.example.com"), true},
		{"python refused", words(candor.CodeUpstreamUnreachable, "[Errno 111] Connection refused"), true},
		{"node hang-up", words(candor.CodeUpstreamUnreachable, "socket hang up"), false},
		{"undici", words(candor.CodeUpstreamUnreachable, "SocketError: other side closed"), false},
		{"both words", words(candor.CodeUpstreamUnreachable, "ECONNRESET, then ECONNREFUSED"), false},
		{"errno", candor.New(candor.CodeUpstreamUnreachable, "", candor.WithDetails(map[string]any{"said": map[string]any{"errno": "ECONNREFUSED"}})), true},
		{"errno of a reset", candor.New(candor.CodeUpstreamUnreachable, "failed to connect",
			candor.WithDetails(map[string]any{"said": map[string]any{"errno": "ECONNRESET"}})), false},
		{"people's words for both", words(candor.CodeUpstreamUnreachable, "Failed to connect to the server"), false},
		{"no words", words(candor.CodeUpstreamUnreachable, ""), false},
		{"500 that mentions it", words(candor.CodeUpstreamError, "500: connection refused by the backend"), false},
		{"503", words(candor.CodeUpstreamUnavailable, "503 Service Unavailable"), false},
		{"503 with a delay", candor.New(candor.CodeUpstreamUnavailable, "", candor.WithRetry(candor.RetryIn(7*time.Second))), false},
		{"timeout", words(candor.CodeUpstreamTimeout, "504"), false},
		{"disk", words(candor.CodeDiskFull, ""), false},
		{"nil", nil, false},
	} {
		if got := contract.ProvesNoEffect(c.err); got != c.proves {
			t.Errorf("%s: ProvesNoEffect is %v, want %v", c.name, got, c.proves)
		}
	}
}

// TestEveryRetryableCodeIsJudged lists the codes that keep their advice without other evidence, so that each new code needs a
// decision.
func TestEveryRetryableCodeIsJudged(t *testing.T) {
	t.Parallel()
	kept := 0
	for code := range candor.Codes() {
		e := candor.New(code, "")
		got := contract.AvoidSecondEffect(e)
		switch {
		case !e.Retry().Retryable():
			if got != e {
				t.Errorf("%s: changed, though it was not retryable", code)
			}
		case got == e:
			kept++
		case got.Retry().Retryable() || got.Suggestion() != contract.CheckEffect:
			t.Errorf("%s: %s %q", code, got.Retry(), got.Suggestion())
		case got.Validate() != nil:
			t.Errorf("%s: %v", code, got.Validate())
		}
	}
	const want = 20 // number of registered codes that keep their advice
	if kept != want {
		t.Errorf("%d retryable codes keep their advice, want %d: decide on the new one in noEffectCodes", kept, want)
	}
}

// TestAvoidSecondEffectKeepsTheDelay checks that details.said loses neither the delay nor any other member.
func TestAvoidSecondEffectKeepsTheDelay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		details    any
		suggestion string
		want       string
		advice     string
	}{
		{nil, "", `{"said":{"retry":"retryable_after_ms","retryAfterMs":7000}}`, contract.CheckEffect},
		{map[string]any{"said": map[string]any{"code": "E9"}, "status": 500}, "Please retry later.",
			`{"said":{"retry":"retryable_after_ms","retryAfterMs":7000,"code":"E9"},"status":500}`, contract.CheckEffect},
		{map[string]any{"said": "busy"}, "Ask the owner of the channel.",
			`{"said":{"retry":"retryable_after_ms","retryAfterMs":7000,"value":"busy"}}`, contract.CheckEffect + " Ask the owner of the channel."},
	} {
		e := contract.AvoidSecondEffect(candor.New(candor.CodeUpstreamError, "500", candor.WithRetry(candor.RetryIn(7*time.Second)),
			candor.WithDetails(c.details), candor.WithSuggestion(c.suggestion)))
		if e.Retry().Retryable() || e.Details().String() != c.want || e.Suggestion() != c.advice {
			t.Errorf("%s %s %q", e.Retry(), e.Details(), e.Suggestion())
		}
	}
}

// TestWordsOfAServerDoNotAskForARetry checks that a suggestion that was read from an answer is not kept beside not_retryable.
func TestWordsOfAServerDoNotAskForARetry(t *testing.T) {
	t.Parallel()
	e := candor.New(candor.CodeUpstreamError, "500", candor.WithSuggestion("Provider service issue; retry with backoff."), candor.WithOrigin(candor.PartyTool, true))
	if got := contract.AvoidSecondEffect(e).Suggestion(); got != contract.CheckEffect {
		t.Errorf("the suggestion is %q", got)
	}
}
