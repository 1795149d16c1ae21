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
	missing := candor.Issue{Path: "/city", Message: `the key "city" is missing`}
	for _, c := range []struct {
		e    *candor.Error
		want string
	}{
		{candor.New(candor.CodeInvalidArguments, "", candor.WithIssues(missing)),
			"INVALID_ARGUMENTS\n- /city: the key \"city\" is missing\nRetry: only with corrected arguments\n"},
		{candor.New(candor.CodeInvalidArguments, "Invalid at depcity Invalid at arrcity", candor.WithSuggestion("Ask."),
			candor.WithIssues(candor.Issue{Path: "/depcity", Message: "Invalid"}, candor.Issue{Path: "/arrcity", Message: "Invalid"})),
			"INVALID_ARGUMENTS\n- /depcity: Invalid\n- /arrcity: Invalid\nRetry: not the same call\nNext: Ask.\n"},
		{candor.New(candor.CodeInvalidArguments, "No run for gh/a: branch is required with projectSlug.", candor.WithSuggestion("Ask."),
			candor.WithIssues(missing, candor.Issue{Path: "/branch", Message: "branch is required with projectSlug."})),
			"INVALID_ARGUMENTS: No run for gh/a: branch is required with projectSlug.\n- /city: the key \"city\" is missing\nRetry: not the same call\nNext: Ask.\n"},
		{candor.New(candor.CodeInvalidArguments, "Expected a berth at berths[0] in harbour 4", candor.WithIssues(candor.Issue{Path: "/berths/0", Message: "Expected a berth"})),
			"INVALID_ARGUMENTS: Expected a berth at berths[0] in harbour 4\nRetry: only with corrected arguments\n"},
		{candor.New(candor.CodeUpstreamUnreachable, "socket hang up", candor.WithRetry(candor.NoRetry()), candor.WithSuggestion("Ask."), candor.WithIssues(missing)),
			"UPSTREAM_UNREACHABLE: socket hang up\nAlso:\n- /city: the key \"city\" is missing\nRetry: not the same call\nNext: Ask.\n"},
		{candor.RetryableAfter(candor.CodeRateLimited, 1e9, "slow down", candor.WithSuggestion("Wait as long as the retry advice says, then send the same call again; if it persists, tell the operator.")),
			"RATE_LIMITED: slow down\nRetry: after 1000 ms\nNext: If it persists, tell the operator.\n"},
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
