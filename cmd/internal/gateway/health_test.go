package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

func TestPercentilesAreOfTheRecentCalls(t *testing.T) {
	clock := newManualClock()
	up := New(Options{Now: clock.Now})
	for i := range 3 * recentCalls {
		up.latencies.observe(clock.Now(), time.Duration(i)*time.Millisecond, i%2 == 0)
		clock.advance(time.Millisecond)
	}
	want := RecentCalls{WindowSeconds: 300, Calls: recentCalls, Failures: recentCalls / 2, P50: 2559, P90: 2969, P99: 3061}
	if got := up.Health().Recent; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	clock.advance(recentTime)
	if got := up.Health().Recent; got.Calls != 0 || got.P99 != 0 {
		t.Errorf("old calls still count: %+v", got)
	}
}

// answerWith makes a call of a tool and answers it with a result.
func answerWith(t *testing.T, up *Upstream, tool, result string) {
	t.Helper()
	knockAt(t, up, tool).Close(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"result":`+result+`}`))
}

func TestHealthCountsOutcomes(t *testing.T) {
	clock := newManualClock()
	up := New(Options{Now: clock.Now, Repeats: RepeatPolicy{Off: true}})
	call := knock(t, up)
	clock.advance(20 * time.Millisecond)
	call.Close(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}}`))
	success := clock.Now()
	clock.advance(time.Second)
	answerWith(t, up, "work", `{"content":[{"type":"text","text":"no such file"}],"isError":true}`)
	answerWith(t, up, "work", `{"content":[{"type":"text","text":"Error: connection refused"}]}`)
	knock(t, up).Cancelled(t.Context())
	h := up.Health()
	want := Counts{Calls: 4, Failures: 2, FailedCalls: 1, Suspected: 1}
	if h.Counts != want {
		t.Errorf("counts %+v, want %+v", h.Counts, want)
	}
	if h.FailureShare != 0.25 || h.SuspectedShare != 0.25 || h.MaskedShare != 0 {
		t.Errorf("shares %v, %v and %v", h.FailureShare, h.SuspectedShare, h.MaskedShare)
	}
	if h.LastSuccess == nil || !h.LastSuccess.Equal(success) {
		t.Errorf("last success %v, want %v", h.LastSuccess, success)
	}
	if h.LastFailure == nil || !strings.HasSuffix(h.LastFailure.Code, "FILE_NOT_FOUND") || h.LastFailure.Tool != "work" || h.LastFailure.Ref == "" {
		t.Errorf("last failure %+v", h.LastFailure)
	}
	if h.Recent.Calls != 3 || h.Recent.Failures != 1 || h.Recent.P99 < 18.7 || h.Recent.P99 > 21.3 {
		t.Errorf("recent %+v", h.Recent)
	}
	if h.Process != nil {
		t.Errorf("a server that was not started has the processes %+v", h.Process)
	}
}

func TestHealthCountsMaskedFailures(t *testing.T) {
	up := New(Options{})
	answerWith(t, up, "work", `{"content":[{"type":"text","text":"x"}]}`)
	if h := up.Health(); h.Masked != 0 {
		t.Fatalf("masked %d", h.Masked)
	}
	e := candor.New(candor.CodeNotFound, "")
	answerWith(t, up, "work", fmt.Sprintf(`{"content":[{"type":"text","text":"x"}],"_meta":{%q:%s}}`, dialect.MetaKey, e.AppendJSON(nil, candor.JSONOptions{})))
	if h := up.Health(); h.Masked != 1 || h.MaskedShare != 0.5 {
		t.Errorf("masked %d, share %v", h.Masked, h.MaskedShare)
	}
}

type brokenLedger struct{}

func (brokenLedger) RecordFailure(context.Context, candor.Failure) error {
	return errors.New("the disk is full")
}

func TestHealthCountsUnrecordedFailures(t *testing.T) {
	up := New(Options{Ledger: brokenLedger{}})
	answerWith(t, up, "work", `{"content":[{"type":"text","text":"no such file"}],"isError":true}`)
	if h := up.Health(); h.Unrecorded != 1 || h.Failures != 0 || h.FailedCalls != 1 {
		t.Errorf("counts %+v", h.Counts)
	}
}

func TestHealthDescribesTheBreaker(t *testing.T) {
	clock := newManualClock()
	up := New(Options{Breaker: BreakerPolicy{Failures: 1, TrialInterval: time.Minute}, Repeats: RepeatPolicy{Off: true}, Now: clock.Now})
	if b := up.Health().Breaker; b.State != BreakerClosed || b.Opened != 0 {
		t.Fatalf("at first %+v", b)
	}
	clock.advance(time.Hour)
	opened := clock.Now()
	knock(t, up).Fail(t.Context(), candor.New(candor.CodeUpstreamGone, "", candor.WithOrigin(candor.PartyGateway, false)))
	clock.advance(time.Second)
	if b := up.Health().Breaker; b.State != BreakerOpen || !b.Since.Equal(opened) || b.Open != 1 || b.Opened != 1 || b.Trial == nil || !b.Trial.Equal(opened.Add(time.Minute)) {
		t.Errorf("after a failure %+v", b)
	}
	clock.advance(time.Minute)
	if b := up.Health().Breaker; b.State != BreakerHalfOpen || !b.Since.Equal(opened) {
		t.Errorf("after the interval %+v", b)
	}
	answerWith(t, up, "work", `{"content":[]}`)
	if b := up.Health().Breaker; b.State != BreakerClosed || !b.Since.Equal(clock.Now()) || b.Opened != 1 || b.Trial != nil {
		t.Errorf("after a success %+v", b)
	}
	if b := New(Options{Breaker: BreakerPolicy{Off: true}}).Health().Breaker; b.State != BreakerOff {
		t.Errorf("without a breaker %+v", b)
	}
}

func TestOneOpenBreakerOpensTheUpstream(t *testing.T) {
	up := New(Options{Breaker: BreakerPolicy{Failures: 1, TrialInterval: time.Minute}})
	other := up.NewBreaker()
	m := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`), wire.Limits{})
	c := up.NewCallFrom(&m, Peer{Breaker: other, Cache: &up.Tools})
	c.Admit(t.Context(), true)
	c.Fail(t.Context(), candor.New(candor.CodeUpstreamGone, "", candor.WithOrigin(candor.PartyGateway, false)))
	if b := up.Health().Breaker; b.State != BreakerOpen || b.Open != 1 {
		t.Errorf("with an open breaker %+v", b)
	}
	up.DropBreaker(other)
	up.DropBreaker(other)
	if b := up.Health().Breaker; b.State != BreakerClosed || b.Open != 0 || b.Opened != 1 {
		t.Errorf("after it was dropped %+v", b)
	}
}

func TestWastedRetriesIgnoreAdvisedOnes(t *testing.T) {
	const permanent = `{"content":[{"type":"text","text":"no such file"}],"isError":true}`
	for name, c := range map[string]struct {
		results []string
		want    uint64
	}{
		"not retryable":   {[]string{permanent, permanent, permanent}, 2},
		"success between": {[]string{permanent, `{"content":[]}`, permanent}, 0},
		"too early":       {[]string{`429`, `429`}, 1},
		"after the delay": {[]string{`429`, `wait`, `429`}, 0},
		"refused":         {[]string{permanent, permanent, permanent, ``, ``}, 4},
	} {
		clock := newManualClock()
		up := New(Options{Now: clock.Now, Repeats: RepeatPolicy{After: 3}})
		for _, result := range c.results {
			clock.advance(10 * time.Millisecond)
			if result == "wait" {
				clock.advance(time.Second)
				continue
			}
			m := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{}}}`), wire.Limits{})
			call, refusal := up.Admit(t.Context(), &m, "s1")
			switch {
			case result == "429":
				call.Lose(t.Context(), candor.RetryableAfter(candor.CodeRateLimited, time.Second, "", candor.WithOrigin(candor.PartyServer, false)), nil, false)
			case result == "" && !strings.Contains(string(refusal), "REPEATED_FAILURE"):
				t.Errorf("%s: not refused: %s", name, refusal)
			case result != "":
				call.Close(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"result":`+result+`}`))
			}
		}
		if got := up.Health().WastedRetries; got != c.want {
			t.Errorf("%s: %d wasted retries, want %d", name, got, c.want)
		}
	}
}

func TestHealthNamesTheServer(t *testing.T) {
	up := New(Options{})
	ask := func(request, result string) ServerInfo {
		m := wire.Parse([]byte(request), wire.Limits{})
		call, _ := up.Admit(t.Context(), &m, "s1")
		call.Close(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"result":`+result+`}`))
		return up.Health().Server
	}
	got := ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`,
		`{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"shop\u001b[31m\nof horrors","version":"1.2.3"}}`)
	if got.Version != "1.2.3" || got.Protocol != "2025-06-18" || !strings.HasPrefix(got.Name, "shop") || strings.ContainsAny(got.Name, "\x1b\n") {
		t.Errorf("initialize gave %+v", got)
	}
	got = ask(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
		`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"serverInfo":{"name":"shop","version":"2"}}`)
	if got != (ServerInfo{Name: "shop", Version: "2", Protocol: "2026-07-28"}) {
		t.Errorf("discover gave %+v", got)
	}
}

func TestHealthOfSeveralUpstreams(t *testing.T) {
	old, fresh := New(Options{}), New(Options{})
	for _, u := range []*Upstream{old, fresh} {
		answerWith(t, u, "work", `{"content":[]}`)
		u.ProcessStarted(false)
	}
	old.ProcessEnded(&ProcessExit{Status: "exited with code 3", Code: 3})
	old.ProcessStarted(true)
	h := HealthOf(fresh, old)
	if h.Calls != 2 || h.Recent.Calls != 2 || h.Breaker.State != BreakerClosed {
		t.Errorf("counts %+v, recent %+v", h.Counts, h.Recent)
	}
	if p := h.Process; p.Running != 2 || p.Starts != 3 || p.Restarts != 1 || p.Exits != 1 || p.LastExit.Code != 3 || p.LastExit.Time.IsZero() {
		t.Errorf("processes %+v", p)
	}
	text, err := json.Marshal(h)
	for _, member := range []string{`"server":{}`, `"state":"closed"`, `"calls":2`, `"p99Ms":`, `"restarts":1`, `"wastedRetries":0`} {
		if !strings.Contains(string(text), member) {
			t.Errorf("no %s in %s (%v)", member, text, err)
		}
	}
}
