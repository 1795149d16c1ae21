package dual_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/wait"
	"github.com/candor-mcp/candor/ledger"
)

// upstreams writes a configuration file of the gateway and returns its name.
func (p *place) upstreams(lines ...string) string {
	p.t.Helper()
	name := filepath.Join(filepath.Dir(p.state), "upstreams.yaml")
	if err := os.WriteFile(name, []byte("version: 1\nupstreams:\n"+strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return name
}

// works returns the configuration of an upstream with the tools of this server.
func (p *place) works(name string) string {
	state := filepath.Join(filepath.Dir(p.state), "upstream-"+name)
	return fmt.Sprintf("  %s:\n    command: [%q, workbench, dual, --quiet, --state, %q, --ledger, none]", name, binary, state)
}

const broken = "  broken:\n    command: [\"/nonexistent/server\"]"

// TestRouterFallsBack checks that a failed attempt is measured and lowers the score, and that the next call begins with
// the other server.
func TestRouterFallsBack(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start("--upstreams", p.upstreams(broken, p.works("good")), "--cost", "good=0.5")
	if chain := texts(s.call("router_fallback", args{"tool": "server_ping"}).fine(), "chain"); strings.Join(chain, " ") != "broken good" {
		t.Errorf("before anything was measured the order is %v, want broken first: it costs nothing", chain)
	}
	a := s.call("router_call", args{"tool": "server_ping"}).fine()
	if a.data("upstream") != "good" || !a.value("result", "data", "pong").Present() || a.data("attempts", 0, "upstream") != "broken" || a.data("attempts", 0, "code") == "" {
		t.Errorf("%s", a.value().Raw())
	}
	score := s.call("router_score", args{}).fine()
	if score.data("winner") != "good" || score.number("ranking", 0, "calls") != 1 || score.number("ranking", 1, "failures") != 1 {
		t.Errorf("%s", score.value().Raw())
	}
	if latency := score.value("ranking", 0, "latency_ms"); string(latency.Raw()) == "0" {
		t.Error("no latency was measured")
	}
	if chain := texts(s.call("router_fallback", args{"tool": "server_ping"}).fine(), "chain"); strings.Join(chain, " ") != "good broken" {
		t.Errorf("%v", chain)
	}
	if chain := texts(s.call("router_fallback", args{"tool": "server_ping", "failed": []string{"good"}}).fine(), "chain"); strings.Join(chain, " ") != "broken" {
		t.Errorf("%v", chain)
	}
	if a := s.call("router_call", args{"tool": "server_ping"}).fine(); a.value("attempts").Len() != 1 {
		t.Errorf("%s", a.value().Raw())
	}
	stats := s.call("router_stats", args{}).fine()
	if stats.number("upstreams", 1, "calls") != 2 || stats.number("upstreams", 1, "calls_by_tool", "server_ping") != 2 || string(stats.value("upstreams", 1, "spent").Raw()) != "1" {
		t.Errorf("%s", stats.value().Raw())
	}
	exhausted := s.call("router_call", args{"tool": "server_ping", "upstreams": []string{"broken"}}).isA("FALLBACK_CHAIN_EXHAUSTED")
	if !exhausted.detail("attempts", 0, "upstream").Is("broken") || exhausted.detail("attempts").Len() != 1 {
		t.Errorf("%s", exhausted.detail().Raw())
	}
	s.retryable(exhausted)
	s.call("router_call", args{"tool": "t", "upstreams": []string{"unknown"}}).isA("INVALID_PARAMS")
	s.call("router_stats", args{"upstream": "unknown"}).isA("INVALID_PARAMS")
	s.End()
	// Measurements are durable.
	s = p.start("--upstreams", p.upstreams(broken, p.works("good")))
	if n := s.call("router_score", args{}).fine().number("ranking", 0, "calls"); n != 2 {
		t.Errorf("%d calls are known after a restart", n)
	}
}

// TestRouterKeepsAFailureOfTheCaller checks that a call that any server would refuse is not sent to another one, and
// does not count against the first.
func TestRouterKeepsAFailureOfTheCaller(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start("--upstreams", p.upstreams(p.works("one"), p.works("two")))
	a := s.call("router_call", args{"tool": "task_get", "arguments": args{"id": missing}}).is("ERR_NOT_FOUND")
	if a.detail("attempts").Len() != 1 || !a.marked() {
		t.Errorf("%s", a.M.Bytes())
	}
	a = s.call("router_call", args{"tool": "task_get", "arguments": args{"id": 7}})
	if a.Code() == "" || a.detail("attempts").Len() != 1 || !a.detail("issues", 0, "path").Is("/arguments/id") || !a.detail("correctTemplate", "arguments", "id").Present() {
		t.Errorf("%s", a.M.Bytes())
	}
	if score := s.call("router_score", args{}).fine(); score.number("ranking", 0, "failures")+score.number("ranking", 1, "failures") != 0 {
		t.Errorf("%s", score.value().Raw())
	}
}

// TestD13RouterCallsDoNotWaitForAnUpstream checks that while a call waits for one server, a call to another one is
// answered.
func TestD13RouterCallsDoNotWaitForAnUpstream(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	slow := &place{t: t, state: filepath.Join(filepath.Dir(p.state), "slow")}
	t.Cleanup(func() { // after the router, whose end the slow server outlives for a moment
		wait.Until(t, "the end of the slow server", func() bool { return os.RemoveAll(slow.state) == nil })
	})
	holds := fmt.Sprintf("  slow:\n    command: [%q, workbench, dual, --quiet, --drill, --state, %q]", binary, slow.state)
	s := p.start("--lock-wait", "100ms", "--upstreams", p.upstreams(holds, p.works("good")))
	held := make(chan answer, 1)
	answered := s.later("router_call", args{"tool": "drill", "arguments": args{"kind": "hold"}, "upstreams": []string{"slow"}})
	go func() { held <- answered() }()
	slow.awaitCall("drill")
	for range 3 {
		s.call("router_call", args{"tool": "server_ping", "upstreams": []string{"good"}}).fine()
	}
	select {
	case a := <-held:
		t.Errorf("the call was not held: %s", a.M.Bytes())
	default:
	}
}

// awaitCall waits until the trail of p has the beginning of a call.
func (p *place) awaitCall(tool string) {
	p.t.Helper()
	wait.Until(p.t, "a call of "+tool, func() bool {
		if _, err := os.Stat(p.trail()); err != nil {
			return false
		}
		return slices.ContainsFunc(p.entries(), func(e ledger.Record) bool { return e.Kind == ledger.KindEnter && e.Tool == tool })
	})
}
