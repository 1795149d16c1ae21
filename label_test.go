package candor_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
)

// TestLabelsAreOneLineWithoutTokens checks that identifiers have one line and that a token in one is redacted.
func TestLabelsAreOneLineWithoutTokens(t *testing.T) {
	jwt := "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxIn0." + "c2lnbmF0dXJlc2lnbmF0dXJl"
	for in, want := range map[string]string{
		"read\nfile\t2\r\n": "readfile2",
		"s-" + "gh" + "p_0123456789abcdefghijABCDEFGHIJ012345": "s-[redacted:github-token]",
		jwt:                                  "[redacted:jwt]",
		"x%3D" + "AK" + "IAIOSFODNN7EXAMPLF": "x%3D[redacted:aws-access-key]",
		"gh\np_0123456789abcdefghijABCDEFGHIJ012345": "[redacted:github-token]",
	} {
		if got := labels(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		if got := labels(labels(in)); got != want {
			t.Errorf("%q twice: %q", in, got)
		}
	}
	for _, id := range []string{
		"123e4567-e89b-12d3-a456-426614174000", "3f786850e387550fdab836ed7e6dc881de23001b", "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"c-0123456789ab", "01J9ZC4T3Q8V5W6X7Y8Z9A0B1C", "password=hunter2", "token: abc123def456", "set_token", "secret_manager1", "npm_install2", "/srv/app/x.txt", "sk-learn2fit", "Zürich 日本", "hf_hub2",
	} {
		if got := labels(id); got != id {
			t.Errorf("%q became %q", id, got)
		}
	}
	cost := func(tool string) float64 {
		return testing.AllocsPerRun(50, func() { _ = candor.New(candor.CodeTimeout, "", candor.WithTool(tool)) })
	}
	if n := cost("read_file") - cost(""); n != 0 {
		t.Errorf("a clean name costs %v allocations", n)
	}
}

// labels returns the cleaned identifier, which must be the same in every field of an error.
func labels(s string) string {
	e := candor.New(candor.CodeTimeout, "", candor.WithRef(s), candor.WithCallInfo(candor.CallInfo{Tool: s, Role: s, SessionID: s, InvariantID: s, PhaseID: s, PlanHash: s}))
	c := e.CallInfo()
	for _, got := range []string{c.Tool, c.Role, c.SessionID, c.InvariantID, c.PhaseID, c.PlanHash} {
		if got != e.Ref() {
			return strings.Join([]string{got, e.Ref()}, " and ")
		}
	}
	return e.Ref()
}
