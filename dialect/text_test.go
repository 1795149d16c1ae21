package dialect_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/workrail"
	"github.com/candor-mcp/candor/dialect"
)

func TestTheReadableTextSaysAllInOneBlock(t *testing.T) {
	e := candor.RetryableAfter(workrail.ValidationError, 2e9, "Invalid input", candor.WithRef("r-1"),
		candor.WithSuggestion("Fix the two fields."),
		candor.WithIssues(candor.Issue{Path: "/goal", Message: "is required"}, candor.Issue{Path: "", Rule: "type"}))
	want := "VALIDATION_ERROR: Invalid input\n- /goal: is required\n- (arguments): type\nRetry: retry after 2000 ms\nNext: Fix the two fields.\nRef: r-1"
	if got := string(dialect.AppendText(nil, e)); got != want {
		t.Errorf("\nwant %s\n got %s", want, got)
	}
	for retry, words := range map[candor.Retry]string{
		candor.NoRetry(): "\nRetry: do not retry the same call", candor.RetryNow(): "may be retried at once",
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
				candor.WithIssues(issues...), candor.WithRetry(candor.RetryIn(candor.MaxRetryAfter)))
			got := string(dialect.AppendText([]byte("kept"), e))[len("kept"):]
			if len(got) > dialect.MaxReadable || !utf8.ValidString(got) {
				t.Fatalf("%q × %d: %d bytes, %q", unit, n, len(got), got)
			}
			for _, part := range []string{"TOKEN_WORKFLOW_HASH_MISMATCH: ", "\nRetry: retry after 604800000 ms", "\nRef: " + e.Ref()} {
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
	if got := string(dialect.AppendText(nil, e)); strings.Count(got, "\n") != 4 {
		t.Errorf("%s", got)
	}
}

func TestFieldsThatDoNotFitAreCounted(t *testing.T) {
	var issues []candor.Issue
	for range 60 {
		issues = append(issues, candor.Issue{Path: "/field", Message: "is required"})
	}
	got := string(dialect.AppendText(nil, candor.New(candor.CodeInvalidArguments, "m", candor.WithIssues(issues...))))
	shown := strings.Count(got, "/field")
	if shown < 10 || !strings.Contains(got, "- … and ") || len(got) > dialect.MaxReadable {
		t.Errorf("%d shown: %s", shown, got)
	}
}
