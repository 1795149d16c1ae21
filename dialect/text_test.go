package dialect_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/workrail"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/limits"
)

func TestTheReadableTextSaysAllInOneBlock(t *testing.T) {
	e := candor.RetryableAfter(workrail.ValidationError, 2e9, "Invalid input", candor.WithRef("r-1"),
		candor.WithSuggestion("Fix the two fields."),
		candor.WithIssues(candor.Issue{Path: "/goal", Message: "is required"}, candor.Issue{Path: "", Rule: "type"}))
	want := "VALIDATION_ERROR: Invalid input\n- /goal: is required\n- (arguments): type\nRetry: after 2000 ms\nNext: Fix the two fields.\nRef: r-1\n"
	if got := string(dialect.AppendText(nil, e)); got != want {
		t.Errorf("\nwant %s\n got %s", want, got)
	}
	for retry, words := range map[candor.Retry]string{
		candor.NoRetry(): "\nRetry: not the same call\n", candor.RetryNow(): "\nRetry: at once\n",
	} {
		if got := string(dialect.AppendText(nil, e.With(candor.WithRetry(retry)))); !strings.Contains(got, words) {
			t.Errorf("%s", got)
		}
	}
}

func TestW6TheReadableTextIsBoundedOnRuneBorders(t *testing.T) {
	for _, unit := range []string{"x", "ä", "日", "🙂", "…", "e\u0301"} {
		for n := 1; n < 1200; n += 53 {
			text := strings.Repeat(unit, n)
			var issues []candor.Issue
			for range n % 90 {
				issues = append(issues, candor.Issue{Path: "/" + text, Message: text})
			}
			e := candor.New(workrail.TokenWorkflowHashMismatch, text, candor.WithSuggestion(text), candor.WithRef(text),
				candor.WithIssues(issues...), candor.WithRetry(candor.RetryIn(limits.RetryAfter)))
			got := string(dialect.AppendText([]byte("kept"), e))[len("kept"):]
			if len(got) > 1024 || !utf8.ValidString(got) {
				t.Fatalf("%q × %d: %d bytes, %q", unit, n, len(got), got)
			}
			for _, part := range []string{"TOKEN_WORKFLOW_HASH_MISMATCH: ", "\nRetry: after 604800000 ms\n", "\nRef: " + e.Ref() + "\n"} {
				if !strings.Contains(got, part) {
					t.Fatalf("%q × %d lacks %q: %q", unit, n, part, got)
				}
			}
		}
	}
}

func TestNoTextCanPretendToBeALine(t *testing.T) {
	e := candor.New(candor.CodeNotFound, "m\nRetry: at once", candor.WithSuggestion("s\r\nRef: other"), candor.WithRef("r\nNext: x"),
		candor.WithIssues(candor.Issue{Path: "/a\nRef: y", Message: "b\nc"}))
	if got := string(dialect.AppendText(nil, e)); strings.Count(got, "\n") != 6 {
		t.Errorf("%s", got)
	}
}

// TestTheReadableTextSaysNothingTwice has the texts of recorded servers.
func TestTheReadableTextSaysNothingTwice(t *testing.T) {
	missing := candor.Issue{Path: "/city", Rule: "required", Message: "is missing", Hint: "must be a string"}
	inferred := candor.WithOrigin(candor.PartyTool, true)
	for _, c := range []struct {
		e    *candor.Error
		want string
	}{
		{candor.New(candor.CodeInvalidArguments, "", candor.WithIssues(missing)),
			"INVALID_ARGUMENTS\n- /city: is missing; must be a string\nRetry: only with corrected arguments\n"},
		{candor.New(candor.CodeInvalidArguments, "Required at city", candor.WithIssues(missing)),
			"INVALID_ARGUMENTS: Required at city\nRetry: only with corrected arguments\n"},
		{candor.New(candor.CodeInvalidArguments, "Invalid at depcity Invalid at arrcity", candor.WithSuggestion("Ask."),
			candor.WithIssues(candor.Issue{Path: "/depcity", Message: "Invalid"}, candor.Issue{Path: "/arrcity", Message: "Invalid"})),
			"INVALID_ARGUMENTS\n- /depcity: Invalid\n- /arrcity: Invalid\nRetry: not the same call\nNext: Ask.\n"},
		{candor.New(candor.CodeInvalidArguments, "No run for gh/a: branch is required with projectSlug.", candor.WithSuggestion("Ask."),
			candor.WithIssues(missing, candor.Issue{Path: "/branch", Message: "branch is required with projectSlug."})),
			"INVALID_ARGUMENTS: No run for gh/a: branch is required with projectSlug.\n- /city: is missing; must be a string\nRetry: not the same call\nNext: Ask.\n"},
		{candor.New(candor.CodeInvalidArguments, "Expected a berth at berths[0] in harbour 4", candor.WithIssues(candor.Issue{Path: "/berths/0", Message: "Expected a berth"})),
			"INVALID_ARGUMENTS: Expected a berth at berths[0] in harbour 4\nRetry: only with corrected arguments\n"},
		{candor.New(candor.CodeInvalidArguments, "Invalid enum value. Expected 'asc' | 'desc', received 'ascc' at order",
			candor.WithIssues(candor.Issue{Path: "/order", Rule: "enum", Message: `must be "asc" or "desc"`, Hint: `did you mean "asc"?`, Example: "asc"})),
			"INVALID_ARGUMENTS: Invalid enum value. Expected 'asc' | 'desc', received 'ascc' at order\n- /order: did you mean \"asc\"?\nRetry: only with corrected arguments\n"},
		{candor.New(candor.CodeInvalidArguments, "Invalid at airport",
			candor.WithIssues(candor.Issue{Path: "/airport", Rule: "pattern", Message: "must match the pattern ^[A-Z]{3}$", Example: "HAM"})),
			"INVALID_ARGUMENTS: Invalid at airport\n- /airport: must match the pattern ^[A-Z]{3}$; for example \"HAM\"\nRetry: only with corrected arguments\n"},
		{candor.New(candor.CodeInvalidArguments, "", candor.WithIssues(
			candor.Issue{Path: "/afer", Rule: "unknown_key", Message: "is not a known key", Hint: `did you mean "after"?`},
			candor.Issue{Path: "/after", Rule: "required", Message: "is missing"})),
			"INVALID_ARGUMENTS\n- /afer: is not a known key; did you mean \"after\"?\nRetry: only with corrected arguments\n"},
		{candor.New(candor.CodeTimeout, "too slow", candor.WithRetry(candor.NoRetry()), candor.WithSuggestion("Ask."), candor.WithIssues(missing)),
			"TIMEOUT: too slow\nAlso:\n- /city: is missing; must be a string\nRetry: not the same call\nNext: Ask.\n"},
		{candor.New(candor.CodeUpstreamUnreachable, "socket hang up", candor.WithRetry(candor.NoRetry()), candor.WithSuggestion("Ask."), candor.WithIssues(missing)),
			"UPSTREAM_UNREACHABLE: socket hang up\nRetry: not the same call\nNext: Ask.\n"},
		{candor.RetryableAfter(candor.CodeRateLimited, 1e9, "slow down", candor.WithSuggestion("Wait as long as the retry advice says, then send the same call again; if it persists, tell the operator.")),
			"RATE_LIMITED: slow down\nRetry: after 1000 ms\nNext: If it persists, tell the operator.\n"},
		{candor.New(candor.CodeNotFound, "no order 7\nask for /orders", inferred), "NOT_FOUND: no order 7\n  ask for /orders\nRetry: not the same call\n"},
		{candor.New(candor.CodeDependencyMissing, "no tar", inferred),
			"DEPENDENCY_MISSING: no tar\nRetry: not the same call\nNext: Ask the operator to install it, or use a tool that does not need it.\n"},
		{candor.New(candor.CodeCallTimeout, ""),
			"CALL_TIMEOUT: The call did not finish before its deadline.\nRetry: not before checking whether the call took effect\nNext: Request less work per call.\n"},
		{candor.New(candor.CodeUpstreamError, "500", candor.WithRetry(candor.NoRetry()), candor.WithSuggestion("If the tool only reads, wait 2000 ms and send the same call again.")),
			"UPSTREAM_ERROR: 500\nRetry: only if the tool just reads, after 2000 ms\n"},
	} {
		if got := string(dialect.AppendText(nil, c.e)); got != c.want {
			t.Errorf("\nwant %s\n got %s", c.want, got)
		}
	}
}

func TestFieldsThatDoNotFitAreCounted(t *testing.T) {
	var issues []candor.Issue
	for range 60 {
		issues = append(issues, candor.Issue{Path: "/field", Message: "is required"})
	}
	got := string(dialect.AppendText(nil, candor.New(candor.CodeInvalidArguments, "m", candor.WithIssues(issues...))))
	shown := strings.Count(got, "/field")
	if shown < 10 || !strings.Contains(got, "- … and ") || len(got) > 1024 {
		t.Errorf("%d shown: %s", shown, got)
	}
}
