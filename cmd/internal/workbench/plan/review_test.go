package plan_test

import (
	"errors"
	"regexp"
	"slices"
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

func page(t *testing.T, previous *plan.Stored, proposed plan.Stored, files []string, colour bool) string {
	t.Helper()
	var b strings.Builder
	if err := plan.Review(&b, previous, proposed, files, false, colour); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReviewOfAFirstPlanShowsAllOfIt(t *testing.T) {
	s := stored(t, greeting)
	got := page(t, nil, s, []string{"src/a", "src/b/c", "README.md", "main.go", "docs/plans/x.md"}, false)
	want := `Plan    Add greeting
Hash    ` + s.Hash + `
Phase   PHASE_1
Status  proposed
Scope   3 existing files covered
  - "src/**" (2 files)
  - "README.md" (1 file)

No other approved plan was found in this workspace; this is the whole plan.
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
        2 scopes, 0 warnings
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestReviewShowsWhatChangedSinceTheLastApproval(t *testing.T) {
	before, after := stored(t, greeting), stored(t, strings.Replace(greeting, "README.md", "docs/**", 1))
	got := page(t, &before, after, nil, false)
	for _, want := range []string{"\n--- approved " + before.Hash + "\n", "\n+++ proposed " + after.Hash + "\n", "\n-  - README.md\n", "\n+  - docs/**\n", "\n   - src/**\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "whole plan") {
		t.Error("it is called a first plan")
	}
	if same := page(t, &before, before, nil, false); !strings.Contains(same, "approved last") {
		t.Errorf("the same plan is shown as\n%s", same)
	}
}

func TestReviewShowsWarnings(t *testing.T) {
	got := page(t, nil, stored(t, string(scoped("**", "ѕrc/**"))+"TB"+"D\n"), []string{"a", "b"}, false)
	for _, want := range []string{"Warning line 4: the scope covers everything", `"**" (2 files)`, `spelt "\u0455rc/**"`, "mixes letters", "holds a placeholder", "2 scopes, 3 warnings"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

var colours = regexp.MustCompile("\x1b\\[[0-9]{1,2}m")

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
	for _, colour := range []bool{false, true} {
		got := page(t, nil, s, nil, colour)
		if colour {
			if !strings.Contains(got, "\x1b[32m") {
				t.Error("there is no colour")
			}
			got = colours.ReplaceAllString(got, "")
		}
		if at := strings.IndexFunc(got, func(r rune) bool {
			return r != '\n' && !unicode.IsPrint(r) || r == '\ufffd' || r == '\u3164' || r == '\u2800' || r == '\ufe0f'
		}); at >= 0 {
			t.Errorf("not written out: %q", got[max(0, at-20):min(len(got), at+20)])
		}
		for _, want := range []string{"<U+202E>", "<U+200B>", "<U+E0041>", "<U+3164>", "<U+2028>", "<U+001B>[2J", "<U+0007>", "<U+000D>", "<U+009B>", "<FF>", "shown in part: 1 line"} {
			if !strings.Contains(got, want) {
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

func TestReviewBoundsTheFilesItCounts(t *testing.T) {
	many := stored(t, strings.Replace(greeting, "- src/**", strings.Repeat("- \"{a,b,c,d,e,f,g,h}{a,b,c,d,e,f,g,h}/*\"\n  ", 10)+"- src/**", 1))
	files := slices.Repeat([]string{"src/a"}, 40_000)
	if got := page(t, nil, many, files, false); !strings.Contains(got, `"src/**" (at least 3`) {
		t.Errorf("counted as\n%s", got)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestReviewReportsWriteErrors(t *testing.T) {
	if err := plan.Review(fullDisk{}, nil, stored(t, greeting), nil, false, false); err == nil {
		t.Error("nobody saw it, and nobody says so")
	}
	if err := plan.Review(&strings.Builder{}, nil, plan.Stored{}, nil, false, false); err == nil {
		t.Error("no plan is shown as one")
	}
}
