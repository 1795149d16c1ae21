package console_test

import (
	"context"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/console"
	"github.com/candor-mcp/candor/ledger"
)

func TestRefusedMethodNamesTheAllowedOnes(t *testing.T) {
	s := open(t, console.Options{})
	for _, c := range [][3]string{
		{"DELETE", "/", "GET, HEAD, POST"}, {"POST", "/", "GET, HEAD"}, {"POST", "/api/v1/failures", "GET, HEAD"}, {"GET", "/logout", "POST"},
	} {
		if res, _ := s.request(c[0], c[1], "", nil); res.StatusCode != http.StatusMethodNotAllowed || res.Header.Get("Allow") != c[2] {
			t.Errorf("%s %s: status %d, Allow %q; want 405, %q", c[0], c[1], res.StatusCode, res.Header.Get("Allow"), c[2])
		}
	}
	if res, _ := s.request("POST", "/nothing", "", nil); res.StatusCode != http.StatusNotFound {
		t.Errorf("POST /nothing: status %d", res.StatusCode)
	}
}

func TestLoginLeadsToNoOtherSite(t *testing.T) {
	s := open(t, console.Options{Token: token})
	for _, next := range []string{"//evil.example", "/\t/evil.example", "/\n/evil.example", "/\\evil.example", "https://evil.example", "\t//evil.example"} {
		form := url.Values{"token": {token}, "next": {next}}.Encode()
		if res, _ := s.request("POST", "/login", form, nil); res.Header.Get("Location") != "/" {
			t.Errorf("next %q: Location is %q, want /", next, res.Header.Get("Location"))
		}
	}
}

func TestLatencyOfAFewCallsShowsTheSlowest(t *testing.T) {
	s := open(t, console.Options{})
	for _, latency := range []time.Duration{1, 2, 3, 4, 5, 400} {
		e := candor.New(candor.CodeTimeout, "slow", candor.WithTool("t"))
		if _, err := s.ledger.Append(context.Background(), ledger.FailureEntry(candor.Failure{Error: e, Method: "tools/call", Upstream: "shop", Latency: latency * time.Millisecond, Attempt: 1})); err != nil {
			t.Fatal(err)
		}
	}
	s.add(failed{server: "other", tool: "t", said: "the last one"})
	_, body := s.request("GET", "/api/v1/servers", "", nil)
	contains(t, body, `"latencyMs":[3,400,400]`)
}
