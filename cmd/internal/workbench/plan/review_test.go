package plan_test

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/candor-mcp/candor/cmd/internal/workbench/plan"
)

// stored returns a plan as read from disk.
func stored(t *testing.T, content string) plan.Stored {
	t.Helper()
	hash := plan.Hash([]byte(content))
	s, err := plan.Read(plan.Render([]byte(content), hash, plan.StatusProposed), plan.Name(hash))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func page(t *testing.T, s plan.Stored) string {
	t.Helper()
	var b strings.Builder
	if err := plan.Review(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReviewOfAFirstPlanShowsAllOfIt(t *testing.T) {
	s := stored(t, greeting)
	got := page(t, s)
	want := `Plan    Add greeting
Hash    ` + s.Hash + `
Phase   PHASE_1
Status  proposed
Scope   "src/**"
Scope   "README.md"

+---
+title: Add greeting
+scope:
+  - src/**
+  - README.md
+phase: PHASE_1
+---
+# Greeting
+
+Say hello.

Decide  ` + s.Hash + `
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestReviewSpellsOtherAlphabets(t *testing.T) {
	got := page(t, stored(t, string(scoped("**", "ѕrc/**"))))
	for _, want := range []string{`"**"`, `spelt "\u0455rc/**"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

// TestHostilePlanCannotFoolTheApprover checks that hidden characters are made visible and that a line of a plan cannot
// look like a line of the review.
func TestHostilePlanCannotFoolTheApprover(t *testing.T) {
	fake := "Decide  " + strings.Repeat("0", 64)
	hostile := strings.Join([]string{
		"bidi \u202eevil\u2066 marks", "zero\u200bwidth \ufeff joiner\u200d", "tags \U000e0041\U000e0042", "fill \u3164 \u2800 \u00a0 \u115f", "line\u2028separator", "zalgo a" + strings.Repeat("\u0301", 50),
		"private \ue000", "selector x\ufe0f", strings.Repeat(" ", 79) + fake, strings.Repeat(" ", 119) + fake, strings.Repeat("漢", 39) + fake, "long " + strings.Repeat("z", 5000),
	}, "\n")
	s := stored(t, greeting+hostile+"\n")
	s.Body = append(s.Body, "ansi \x1b[2J\x1b]0;title\x07 and \r return \u009b1A raw \xff\n"...) // Parse refuses these; Review does not rely on it
	got := page(t, s)
	if at := strings.IndexFunc(got, func(r rune) bool {
		return r != '\n' && !unicode.IsPrint(r) || r == '\ufffd' || r == '\u3164' || r == '\u2800' || r == '\ufe0f'
	}); at >= 0 {
		t.Errorf("not written out: %q", got[max(0, at-20):min(len(got), at+20)])
	}
	for _, want := range []string{"<U+202E>", "<U+200B>", "<U+E0041>", "<U+3164>", "<U+2028>", "<U+001B>[2J", "<U+0007>", "<U+000D>", "<U+009B>", "<FF>"} {
		if !strings.Contains(strings.ReplaceAll(got, "\n+  … ", ""), want) {
			t.Errorf("%s is missing", want)
		}
	}
	if strings.Count(got, "\u0301") > 2 {
		t.Error("marks are heaped up")
	}
	if n := strings.Count(got, "\nDecide  "); n != 1 {
		t.Errorf("%d lines decide", n)
	}
	for line := range strings.Lines(got) {
		if columns(line) > 80 {
			t.Errorf("a terminal breaks %q", line)
		}
		if strings.Contains(line, strings.Repeat("0", 20)) && !strings.HasPrefix(line, "+") {
			t.Errorf("a line of the plan stands without a sign: %q", line)
		}
	}
}

// columns returns the width of a line; Han characters count as two.
func columns(line string) int {
	n := 0
	for _, r := range strings.TrimSuffix(line, "\n") {
		if n++; unicode.Is(unicode.Han, r) {
			n++
		}
	}
	return n
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestReviewReportsWriteErrors(t *testing.T) {
	if err := plan.Review(fullDisk{}, stored(t, greeting)); err == nil {
		t.Error("nobody saw it, and nobody says so")
	}
	if err := plan.Review(&strings.Builder{}, plan.Stored{}); err == nil {
		t.Error("no plan is shown as one")
	}
}
