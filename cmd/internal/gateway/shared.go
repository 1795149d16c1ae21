package gateway

import (
	"fmt"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway/share"
)

// shareBreaker connects the breaker of an HTTP server with those of other gateways. The breaker of a process that this gateway has started
// says nothing about processes of others.
func (u *Upstream) shareBreaker() {
	if u.Options.Shared == nil || u.Options.Breaker.Off {
		return
	}
	u.Breaker.shared = u.Options.Shared
	u.Options.Shared.OnBreaker(func(r share.Report) {
		u.Breaker.hear(r, time.Unix(0, u.tally.lastSuccess.Load()))
	})
}

// circuitOpen returns the refusal of an open breaker.
func circuitOpen(wait time.Duration, report *share.Report) *candor.Error {
	message, options := "The server failed too often and is not called for a while.", []candor.Option{candor.WithOrigin(candor.PartyGateway, false)}
	if report != nil {
		message = fmt.Sprintf("Another gateway, %s, reports that the server failed too often. It is not called for a while.", report.Node)
		options = append(options, candor.WithDetails(map[string]any{"reportedBy": report.Node, "code": report.Code, "times": report.Count}))
	}
	return candor.RetryableAfter(candor.CodeCircuitOpen, wait, message, options...)
}

// hear applies the report of another gateway: the breaker opens until its next trial, as if own calls had failed. A server that answered
// this gateway within the time between two trials, at lastSuccess, is believed and not the report. That another gateway is answered again
// closes only what its own report has opened.
func (b *Breaker) hear(r share.Report, lastSuccess time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.Closed {
		if b.report != nil && b.report.Node == r.Node && b.failures == 0 {
			b.reset()
		}
		return
	}
	now := b.now()
	until := r.Since.Add(b.policy.TrialInterval) // from the time of the report, so that an old one delays nothing
	if !b.until.IsZero() || now.Sub(lastSuccess) < b.policy.TrialInterval || !now.Before(until) {
		return
	}
	b.since, b.until, b.report = now, until, &r
	b.opened++
	b.troubled.Store(true)
}

// isStale reports whether the breaker is open only because of a report, and no call has tried the server for a while. The lock must be
// held.
func (b *Breaker) isStale(now time.Time) bool {
	return b.report != nil && b.failures == 0 && now.Sub(b.until) >= b.policy.TrialInterval
}

// tell tells the other gateways about a failure while the breaker is open. Enough means that the failures of this gateway alone are reason
// to open it: a gateway never repeats what it has only heard. The lock must be held.
func (b *Breaker) tell(e *candor.Error, enough bool) {
	if b.report != nil {
		b.shared.Confirmed()
		if !enough {
			return
		}
		b.report = nil
	}
	if now := b.now(); b.told.IsZero() || now.Sub(b.told) >= b.policy.TrialInterval {
		b.told = now
		b.shared.Opened(e.Code().String(), b.failures)
	}
}

// adopt returns the failures of a call that another gateway reports, as if they had happened here, or nil. The lock must be held.
func (r *repeats) adopt(c *Call, key callKey) *callStreak {
	report, ok := c.up.Options.Shared.FailingElsewhere(c.session, c.tool, c.arguments)
	if !ok {
		return nil
	}
	code, err := candor.ParseCode(report.Code)
	if err != nil {
		return nil
	}
	s := r.session(c.session)
	if s.calls[key] == nil {
		if len(s.calls) >= maxSessionCalls {
			s.dropOldest()
			r.size--
		}
		r.size++
	}
	gap := r.policy.Window / firstGapShare
	streak := &callStreak{
		count: report.Count, since: report.Since, noted: report.Since, next: report.Since.Add(gap), gap: gap, codes: []candor.Code{code},
		code: code, ref: report.Ref, retry: code.Retry(), advice: code.Action(), reporter: report.Node, heard: report.Count,
	}
	s.calls[key] = streak
	return streak
}

// tellRepeats tells the other gateways that calls with these arguments are refused now, or that another trial has failed. Failures of
// which this gateway has only heard do not count.
func (c *Call) tellRepeats(streak *callStreak, after int) {
	if c.up.Options.Shared == nil || streak.next.IsZero() || streak.count-streak.heard < after {
		return
	}
	c.up.Options.Shared.Failing(c.session, c.tool, c.arguments(), share.Report{Code: streak.code.String(), Count: streak.count, Ref: streak.ref})
}

// tellForgiven tells the other gateways that calls of the session may succeed now, after a success of this one. Changes means that it may
// have changed the state that other tools depend on.
func (c *Call) tellForgiven(changes bool) {
	if changes {
		c.up.Options.Shared.Cleared(c.session, "")
	} else {
		c.up.Options.Shared.Cleared(c.session, c.tool)
	}
}

// refute notes that this call succeeded although another gateway had reported that it fails.
func (c *Call) refute(s *sessionRepeats) {
	if c.up.Options.Shared == nil {
		return
	}
	if streak := s.calls[c.key()]; streak != nil && streak.reporter != "" {
		c.up.Options.Shared.CallRefuted(c.session, c.up.repeats.policy.Window/firstGapShare)
	}
}

// whereWords says where the failures of a call were seen, if not here.
func (s *callStreak) whereWords() string {
	if s.reporter == "" {
		return ""
	}
	return " at the gateway " + s.reporter
}

// noteSaid tells the other gateways which code a server has used if this program does not know it.
func (c *Call) noteSaid(e *candor.Error) {
	if c.up.Options.Shared == nil {
		return
	}
	var symbol string
	if err := e.Details().Get("said").Get("code").Decode(&symbol); err == nil {
		c.up.Options.Shared.SawUnknownCode(symbol)
	}
}
