package httpgate_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
)

const fileTools = `{"name":"read_file","annotations":{"readOnlyHint":true}},{"name":"write_file"},{"name":"stat","annotations":{"readOnlyHint":true}}`

// newFileServer starts a server with a read_file that fails until write_file was called with the same arguments.
func newFileServer(t *testing.T, o gateway.Options) *guarded {
	t.Helper()
	var files sync.Map
	return newGuarded(t, o, fileTools, map[string]func(string) string{
		"read_file": func(arguments string) string {
			if _, ok := files.Load(arguments); ok {
				return toolSays("text")
			}
			return toolFails("ENOENT: no such file or directory")
		},
		"write_file": func(arguments string) string { files.Store(arguments, true); return toolSays("written") },
		"stat":       func(string) string { return toolSays("2 files") },
	})
}

func TestRepeatGuardForwardsAReadAfterTheWrite(t *testing.T) {
	g := newFileServer(t, gateway.Options{})
	for i := range 5 {
		if got := g.call("read_file", fmt.Sprintf(`{"path":"%d"}`, i)); got.Code == "" || got.Code == "REPEATED_FAILURE" {
			t.Fatalf("missing file %d: %+v", i, got)
		}
	}
	g.call("write_file", `{"path":"0"}`)
	if got := g.call("read_file", `{"path":"0"}`); got.Code != "" {
		t.Errorf("the file that was written: %+v", got)
	}
}

// A counter in the arguments makes all calls different. The answer warns about the repetition, and nothing is refused.
func TestRepeatGuardWarnsWhereArgumentsVary(t *testing.T) {
	g := newFileServer(t, gateway.Options{})
	var last gatewaytest.Advised
	for i := range 8 {
		last = g.call("read_file", fmt.Sprintf(`{"path":"a","try":%d}`, i))
	}
	if last.Code == "REPEATED_FAILURE" || last.Details.Repeated < 6 || !strings.Contains(last.Suggestion, "Change the approach") {
		t.Errorf("the eighth failure: %+v", last)
	}
	if n := g.calls("read_file"); n != 8 {
		t.Errorf("%d calls reached the server, want 8", n)
	}
}

// The delay in a refusal is exact: the same call a moment earlier is refused.
func TestRepeatGuardLetsATrialThroughWhenItSays(t *testing.T) {
	g := newFileServer(t, gateway.Options{})
	for range 5 {
		g.call("read_file", `{"path":"a"}`)
	}
	var gaps []int64
	for range 6 {
		refused := g.call("read_file", `{"path":"a"}`)
		if refused.Code != "REPEATED_FAILURE" || refused.Details.AfterMs <= 0 || refused.Retry.Kind != "not_retryable" {
			t.Fatalf("after %v: %+v", gaps, refused)
		}
		gaps = append(gaps, refused.Details.AfterMs)
		g.clock.advance(time.Duration(refused.Details.AfterMs-1) * time.Millisecond)
		if got := g.call("read_file", `{"path":"a"}`); got.Code != "REPEATED_FAILURE" || got.Details.AfterMs != 1 {
			t.Fatalf("one millisecond too early: %+v", got)
		}
		g.clock.advance(time.Millisecond)
		before := g.calls("read_file")
		if got := g.call("read_file", `{"path":"a"}`); got.Code == "REPEATED_FAILURE" || g.calls("read_file") != before+1 {
			t.Fatalf("after %d ms as the refusal says: %+v", refused.Details.AfterMs, got)
		}
	}
	if gaps[1] <= gaps[0] || gaps[5] > time.Minute.Milliseconds() {
		t.Errorf("the gaps are %v ms; they should grow up to the window", gaps)
	}
}

func TestRepeatGuardNeverRefusesACallThatWaitedAsAdvised(t *testing.T) {
	var up atomic.Bool
	g := newGuarded(t, gateway.Options{Breaker: gateway.BreakerPolicy{Off: true}}, `{"name":"fetch","annotations":{"readOnlyHint":true}}`, map[string]func(string) string{
		"fetch": func(string) string {
			if up.Load() {
				return toolSays("page")
			}
			return toolFails("503 Service Unavailable")
		},
	})
	for i := range 40 {
		got := g.call("fetch", `{"url":"https://example.com"}`)
		if got.Code != "UPSTREAM_UNAVAILABLE" || got.Retry.AfterMs != 1000 || got.Details.Repeated != 0 {
			t.Fatalf("attempt %d, 1.1 s after the one before: %+v", i, got)
		}
		g.clock.advance(1100 * time.Millisecond)
	}
	up.Store(true)
	if got := g.call("fetch", `{"url":"https://example.com"}`); got.Code != "" {
		t.Errorf("the upstream is back: %+v", got)
	}
}

// A client that did not wait is refused with a delay, and is let through once it waits.
func TestRepeatGuardStopsACallThatDoesNotWait(t *testing.T) {
	g := newGuarded(t, gateway.Options{Breaker: gateway.BreakerPolicy{Off: true}}, `{"name":"fetch","annotations":{"readOnlyHint":true}}`, map[string]func(string) string{
		"fetch": func(string) string { return toolFails("503 Service Unavailable") },
	})
	var got gatewaytest.Advised
	for range 8 {
		got = g.call("fetch", `{}`)
	}
	if got.Code != "REPEATED_FAILURE" || got.Retry.Kind != "retryable_after_ms" || got.Retry.AfterMs != 1000 {
		t.Fatalf("the eighth call without a pause: %+v", got)
	}
	for i := range 20 {
		g.clock.advance(time.Second)
		if got := g.call("fetch", `{}`); got.Code != "UPSTREAM_UNAVAILABLE" {
			t.Fatalf("call %d that waited: %+v", i, got)
		}
	}
}

// Concurrent calls were all made before any of them failed.
func TestRepeatGuardDoesNotCountParallelCalls(t *testing.T) {
	release := make(chan struct{})
	var open atomic.Int32
	var clock atomic.Pointer[testClock]
	g := newGuarded(t, gateway.Options{}, fileTools, map[string]func(string) string{
		"read_file": func(string) string {
			if open.Add(1) == 8 {
				clock.Load().advance(time.Second) // all have been admitted
				close(release)
			}
			<-release
			return toolFails("ENOENT: no such file or directory")
		},
	})
	clock.Store(g.clock)
	done := make(chan gatewaytest.Advised, 8)
	for range 8 {
		go func() { done <- g.call("read_file", `{"path":"a"}`) }()
	}
	for range 8 {
		if got := <-done; got.Details.Repeated != 0 {
			t.Errorf("a parallel call: %+v", got)
		}
	}
	if got := g.call("read_file", `{"path":"a"}`); got.Code == "REPEATED_FAILURE" {
		t.Errorf("the first repetition: %+v", got)
	}
}

// A call that fails with a different code each time is not a repetition, because something changes. Two codes that alternate are
// a loop.
func TestRepeatGuardCountsOnlyFailuresThatComeAgain(t *testing.T) {
	ways := []string{"401 Unauthorized", "403 Forbidden", "404 Not Found", "409 Conflict", "422 Unprocessable Entity", "413 Payload Too Large", "Invalid argument: path is required", "501 Not Implemented"}
	var n, turns atomic.Int32
	turns.Store(int32(len(ways)))
	g := newGuarded(t, gateway.Options{}, `{"name":"act"}`, map[string]func(string) string{"act": func(string) string { return toolFails(ways[n.Add(1)%turns.Load()]) }})
	for range ways {
		if got := g.call("act", `{}`); got.Code == "REPEATED_FAILURE" {
			t.Fatalf("failure %d: %+v", n.Load(), got)
		}
	}
	turns.Store(2)
	g.callIn("s2", "act", `{}`)
	stopped := false
	for range 7 {
		stopped = stopped || g.callIn("s2", "act", `{}`).Code == "REPEATED_FAILURE"
	}
	if !stopped {
		t.Error("a loop of two failures that take turns is not stopped within 8 calls")
	}
}
