package dual_test

import (
	"strings"
	"testing"
)

// route calls a tool through the router with a chain of upstreams.
func (s *server) route(tool string, upstreams ...string) answer {
	s.T.Helper()
	return s.call("router_call", args{"tool": tool, "upstreams": upstreams})
}

// TestRouterReopensASessionThatEnded checks that the next call restarts an upstream after its process has exited.
func TestRouterReopensASessionThatEnded(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start("--upstreams", p.upstreams(p.fake("fine")))
	s.route("read", "fine").fine()
	for range 3 {
		s.route("exit", "fine").is("UPSTREAM_GONE")
		a := s.route("read", "fine").fine()
		if a.value("attempts").Len() != 1 || a.data("result", "content", 0, "text") != "fine" {
			t.Errorf("%s", a.value().Raw())
		}
	}
	score := s.call("router_score", args{}).fine()
	if score.number("ranking", 0, "failures") != 3 || score.number("ranking", 0, "calls") != 7 {
		t.Errorf("three calls ended the server: %s", score.value().Raw())
	}
}

// TestRouterFallsBackForRepeatableTools checks that after a crash, a timeout or garbage, when the effect of a call is
// unknown, the next server is called only for a tool that is declared read-only or idempotent.
func TestRouterFallsBackForRepeatableTools(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	file := p.upstreams(p.fake("dies"), p.fake("hangs", "timeout: 1s"), p.fake("garbage", "timeout: 2s"), p.fake("fine"))
	s := p.start("--upstreams", file)
	for mode, code := range map[string]string{"dies": "UPSTREAM_GONE", "hangs": "CALL_TIMEOUT", "garbage": "UPSTREAM_MALFORMED"} {
		for _, tool := range []string{"read", "once"} {
			p.calls()
			a := s.route(tool, mode, "fine").fine()
			if a.data("upstream") != "fine" || !strings.HasSuffix(a.data("attempts", 0, "code"), code) {
				t.Errorf("%s %s: %s", mode, tool, a.value().Raw())
			}
			if got := strings.Join(p.calls(), ", "); got != mode+" "+tool+", fine "+tool {
				t.Errorf("%s %s: the calls were %s", mode, tool, got)
			}
		}
		a := s.route("write", mode, "fine").is(code)
		if got := strings.Join(p.calls(), ", "); got != mode+" write" {
			t.Errorf("%s: the calls were %s", mode, got)
		}
		if !a.detail("fallbackStopped").Is("effect") || a.detail("attempts").Len() != 1 {
			t.Errorf("%s: it does not say why the chain ended: %s", mode, a.detail().Raw())
		}
		if a := s.route("write", mode).is(code); a.detail("fallbackStopped").Present() {
			t.Errorf("%s: no server was left: %s", mode, a.detail().Raw())
		}
	}
}

// TestRouterSeesMaskedFailures checks that a failure that is marked as a success counts as a failure.
func TestRouterSeesMaskedFailures(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start("--upstreams", p.upstreams(p.fake("masked"), p.fake("suspect"), p.fake("fine")))
	if a := s.route("read", "masked"); !a.marked() || a.Code() == "" {
		t.Errorf("a masked failure passes as a success: %s", a.M.Bytes())
	}
	if a := s.route("write", "masked", "fine"); !a.marked() || !a.detail("fallbackStopped").Is("effect") {
		t.Errorf("%s", a.M.Bytes())
	}
	a := s.route("read", "suspect").fine() // which may be the correct result of the tool
	if a.data("result", "content", 0, "text") != "Error: internal server error" || a.data("suspected", "code") == "" {
		t.Errorf("%s", a.value().Raw())
	}
	if a := s.route("read", "fine").fine(); a.value("suspected").Present() {
		t.Errorf("%s", a.value().Raw())
	}
	for u := range s.call("router_stats", args{}).fine().value("upstreams").Elements() {
		name, _ := u.Path("upstream").Str()
		calls, _ := u.Path("calls").Int64()
		failures, _ := u.Path("failures").Int64()
		if want := name != "fine"; want != (failures == calls) || calls == 0 {
			t.Errorf("%s: %d of %d calls failed", name, failures, calls)
		}
	}
}

// TestRouterKeepsContentBesideData checks that a result with structured content and other content arrives complete.
func TestRouterKeepsContentBesideData(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start("--upstreams", p.upstreams(p.fake("both"), p.works("good")))
	a := s.route("read", "both").fine()
	if a.number("result", "n") != 1 || a.data("content", 0, "text") != "a note beside the data" {
		t.Errorf("%s", a.value().Raw())
	}
	if a := s.route("server_ping", "good").fine(); a.value("content").Present() {
		t.Errorf("the text is that of the data and need not be repeated: %s", a.value().Raw())
	}
}

// TestRouterAsksTheServerThatHasTheTool calls a tool that only the last server of a chain lists, and checks that the numbers of the answer are
// those that it sent.
func TestRouterAsksTheServerThatHasTheTool(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start("--upstreams", p.upstreams(p.fake("fine"), p.fake("other")))
	for _, in := range []args{{"tool": "graph"}, {"tool": "graph", "upstreams": []string{"fine", "other"}}} {
		a := s.call("router_call", in).fine()
		if got := string(a.value("result").Raw()); a.data("upstream") != "other" || got != `{"n":12345678901234567890,"f":1.0}` || a.value("content").Present() {
			t.Errorf("%s", a.value().Raw())
		}
	}
	if got := strings.Join(p.calls(), ", "); got != "other graph, other graph" {
		t.Errorf("the calls were %s", got)
	}
	if chain := texts(s.call("router_fallback", args{"tool": "graph"}).fine(), "chain"); strings.Join(chain, " ") != "other" {
		t.Errorf("%v", chain)
	}
	a := s.call("router_call", args{"tool": "grahp", "upstreams": []string{"fine", "other"}}).isA("TOOL_NOT_FOUND")
	if !a.detail("didYouMean", 0).Is("graph") || a.detail("attempts").Len() != 2 || a.detail("tools").Len() != 5 {
		t.Errorf("%s", a.detail().Raw())
	}
	for u := range s.call("router_stats", args{}).fine().value("upstreams").Elements() {
		if failures, _ := u.Path("failures").Int64(); failures != 0 {
			t.Errorf("a missing tool is measured: %s", u.Raw())
		}
	}
}
