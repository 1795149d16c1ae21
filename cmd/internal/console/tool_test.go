package console_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/console"
)

// fakeRules proposes one rule.
type fakeRules struct{ written []string }

func (f *fakeRules) Propose(context.Context, string, string) ([]console.Rule, error) {
	return []console.Rule{{ID: "abc", Words: "/ok is false", Answers: 1, Calls: 1, Codes: []string{"NOT_FOUND"}, Examples: []string{`{"ok":false}`}}}, nil
}

func (f *fakeRules) Preview(_ context.Context, _, _ string, ids []string) (console.Change, error) {
	if ids[0] != "abc" {
		return console.Change{}, errors.New("no such rule")
	}
	return console.Change{File: "shop.yaml", Before: "server: shop\n", After: "server: shop\nmasks:\n  - tool: search\n", Added: 1, Version: "1", Next: "Reload the gateway."}, nil
}

func (f *fakeRules) Write(ctx context.Context, server, tool string, ids []string, version string) (console.Change, error) {
	if version != "1" {
		return console.Change{}, console.ErrChanged
	}
	f.written = append(f.written, ids...)
	return f.Preview(ctx, server, tool, ids)
}

type fakeServers struct{}

func (fakeServers) Servers(context.Context) []console.ServerState {
	return []console.ServerState{{Name: "shop", Mode: "annotate", Calls: 100, Open: 2, Breaker: "open", Restarts: 3, FailureShare: 0.25, MaskedShare: 0.5, Latency: [3]float64{7, 8, 9}}, {Name: "quiet", Breaker: "closed"}}
}

func TestRuleIsShownThenWrittenWithToken(t *testing.T) {
	rules := &fakeRules{}
	s := open(t, console.Options{Token: token, Rules: rules})
	s.add(failed{server: "shop", tool: "search", said: `{"ok":false}`, suspected: true})
	contains(t, s.get("/tool/shop/search"), "/ok is false", "1 answer looks like a failure", "1 answer would have been a failure", `id="make-rule"`, `value="abc" checked`, `id="rules"`)

	preview := s.get("/tool/shop/search/rules?id=abc")
	contains(t, preview, "shop.yaml", `<mark><span class="sign">+ </span>masks:</mark>`, "Reload the gateway.", `id="write-rule"`, `name="version" value="1"`)

	for name, c := range map[string]struct {
		body   string
		change func(*http.Request)
		status int
	}{
		"no token":      {"id=abc&version=1", anonymous, http.StatusUnauthorized},
		"another site":  {"id=abc&version=1", func(r *http.Request) { bearer(r); r.Header.Set("Sec-Fetch-Site", "cross-site") }, http.StatusForbidden},
		"another port":  {"id=abc&version=1", func(r *http.Request) { bearer(r); r.Header.Set("Origin", "http://127.0.0.1:1") }, http.StatusForbidden},
		"changed file":  {"id=abc&version=0", bearer, http.StatusConflict},
		"no rule":       {"version=1", bearer, http.StatusBadRequest},
		"unknown rule":  {"id=zzz&version=1", bearer, http.StatusUnprocessableEntity},
		"too many":      {strings.Repeat("id=abc&", 51) + "version=1", bearer, http.StatusBadRequest},
		"too long form": {"id=abc&version=1&x=" + strings.Repeat("x", 70<<10), bearer, http.StatusBadRequest},
	} {
		rules.written = nil
		for _, root := range []string{"", "/api/v1"} {
			path := root + "/tool/shop/search/rules"
			if root != "" {
				path = root + "/tools/shop/search/rules"
			}
			if res, body := s.request("POST", path, c.body, c.change); res.StatusCode != c.status {
				t.Errorf("%s at %s: status %d, want %d: %s", name, path, res.StatusCode, c.status, body)
			}
		}
		if len(rules.written) > 0 && name != "unknown rule" {
			t.Errorf("%s: a rule was written", name)
		}
	}
	rules.written = nil
	if res, _ := s.request("POST", "/tool/shop/search/rules", "id=abc&version=1", bearer); res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "/tool/shop/search?written" {
		t.Errorf("writing: status %d to %q", res.StatusCode, res.Header.Get("Location"))
	}
	if len(rules.written) != 1 {
		t.Errorf("written were %v", rules.written)
	}
	contains(t, s.get("/tool/shop/search?written"), "The rule was written.")
}

func TestServersShowStateAndRecord(t *testing.T) {
	s := open(t, console.Options{Servers: fakeServers{}})
	s.add(failed{server: "shop", tool: "search", said: "no"})
	s.add(failed{server: "shop", tool: "search", said: `{"ok":false}`, suspected: true})
	s.add(failed{server: "old", tool: "search", said: "no"})
	body := s.get("/servers")
	contains(t, body, "✗ open", ">not running<", ">quiet<", ">50 %<", ">25 %<", ">7 ms<", "12 ms")
	contains(t, s.get("/tool/shop/search"), "100 %")
}

func TestSessionIsATimeline(t *testing.T) {
	s := open(t, console.Options{})
	s.add(failed{server: "shop", tool: "search", said: "first", session: "s1"})
	s.add(failed{server: "shop", tool: "search", said: "other", session: "s2"})
	s.add(failed{server: "shop", tool: "pay", said: "second", session: "s1"})
	body := s.get("/session/s1")
	contains(t, body, `id="timeline"`, "2 failures")
	if first, second := strings.Index(body, "first"), strings.LastIndex(body, "second"); first < 0 || second < first || strings.Contains(body, "other") {
		t.Error("the timeline is not in order, or has failures of another session")
	}
}
