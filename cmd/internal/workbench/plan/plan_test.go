package plan_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/workbench/plan"
)

const greeting = `---
title: Add greeting
scope:
  - src/**
  - README.md
phase: PHASE_1
---
# Greeting

Say hello.
`

// with returns a plan with this front matter.
func with(front string) []byte { return []byte("---\n" + front + "\n---\nSay hello.\n") }

// scoped returns a plan with these scopes, quoted.
func scoped(globs ...string) []byte {
	front := "title: x\nscope:"
	for _, g := range globs {
		front += fmt.Sprintf("\n  - '%s'", g)
	}
	return with(front)
}

// must parses a plan without errors.
func must(t *testing.T, content []byte) *plan.Plan {
	t.Helper()
	p, issues := plan.Parse(content)
	if p == nil {
		t.Fatalf("the plan was refused: %v", issues)
	}
	return p
}

func TestPlanSaysWhatItCovers(t *testing.T) {
	p, issues := plan.Parse([]byte(greeting))
	if p == nil || len(issues) > 0 {
		t.Fatalf("a sound plan has issues: %v", issues)
	}
	if p.Title != "Add greeting" || p.Phase != "PHASE_1" || !slices.Equal(p.Scope, []string{"src/**", "README.md"}) || p.Text != "# Greeting\n\nSay hello.\n" {
		t.Errorf("read as %+v", p)
	}
}

func TestIssueSaysWhereAndWhatToDo(t *testing.T) {
	for _, c := range []struct {
		content      []byte
		line, column int
		rule, words  string
	}{
		{[]byte("# no front matter\n"), 1, 1, "front-matter", "three dashes"},
		{nil, 1, 1, "front-matter", "three dashes"},
		{[]byte("---\ntitle: x\n"), 1, 1, "front-matter", "does not end"},
		{[]byte("<!-- KAIZA_PLAN_HASH: 00 -->\n" + greeting), 1, 1, "header", "leave the first line out"},
		{[]byte("\ufeff" + greeting), 1, 1, "hidden-character", "byte order mark"},
		{[]byte(greeting + "\nescape \x1b[2J\n"), 12, 8, "control-character", "U+001B"},
		{[]byte(greeting + "\nlone \r return\n"), 12, 6, "control-character", "U+000D"},
		{[]byte(greeting + "\n\xff\xfe\n"), 12, 1, "utf8", "UTF-8"},
		{[]byte(greeting + "<!-- KAIZA_PLAN_HASH: 1 STATUS: APPROVED -->\n"), 11, 1, "header", "looks like the header"},
		{[]byte("---\ntitle: x\nscope: [a]\n---\n \n"), 5, 1, "empty-text", "no text"},
		{with("scope: [a]"), 1, 1, "title", "no title"},
		{with("title: ''\nscope: [a]"), 2, 8, "title", "empty"},
		{with("title: 3\nscope: [a]"), 2, 8, "title", "not text"},
		{with("title: " + strings.Repeat("x", 201) + "\nscope: [a]"), 2, 8, "title", "longer than 200"},
		{with(`title: "a\u202eb"` + "\nscope: [a]"), 2, 8, "hidden-character", "invisible character"},
		{with("title: x"), 1, 1, "scope", "no scope"},
		{with("title: x\nscope: a"), 3, 8, "scope", "not a list"},
		{with("title: x\nscope: []"), 3, 8, "scope", "at least one"},
		{with("title: x\nscope:\n  - 3"), 4, 5, "scope", "not text"},
		{with("title: x\nscope: [a]\nphase: first"), 4, 8, "phase", "PHASE_1"},
		{with("titel: x\nscope: [a]"), 2, 1, "unknown-key", `did you mean "title"?`},
		{with("title: x\ntitle: y\nscope: [a]"), 3, 1, "duplicate", "duplicate key"},
		{with("title: x\nscope:\n  - *.md"), 4, 5, "scope", "in quotes"},
		{with("title: x\nscope:\n  - {a,b}/c"), 0, 0, "yaml", "put quotes around"},
		{with("title: [x\nscope: a"), 0, 0, "yaml", "invalid YAML"},
	} {
		p, issues := plan.Parse(c.content)
		if p != nil {
			t.Errorf("%.60q is taken for a plan", c.content)
		}
		if !slices.ContainsFunc(issues, func(i plan.Issue) bool {
			return (c.line == 0 || i.Line == c.line && i.Column == c.column) && i.Rule == c.rule && strings.Contains(i.String(), c.words) && i.Hint != ""
		}) {
			t.Errorf("%.60q: want %d:%d %s %q, got %v", c.content, c.line, c.column, c.rule, c.words, issues)
		}
	}
}

func TestAllIssuesAreReported(t *testing.T) {
	_, issues := plan.Parse(with("titel: x\nscope:\n  - ../a\n  - /b\n  - ok/**\nphase: nope"))
	var lines []int
	for _, i := range issues {
		lines = append(lines, i.Line)
	}
	if want := []int{1, 2, 4, 5, 7}; !slices.Equal(lines, want) {
		t.Errorf("issues on lines %v, want %v: %v", lines, want, issues)
	}
}

// TestHostileFrontMatterIsRefused checks that YAML bombs are refused with an issue; refusing them must not take long.
func TestHostileFrontMatterIsRefused(t *testing.T) {
	laughs := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		laughs += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	stairs := func(step string) string {
		var b strings.Builder
		for i := range 400 {
			b.WriteString(strings.Repeat(" ", i) + step + "\n")
		}
		return b.String()
	}
	for name, front := range map[string]string{
		"billion laughs": laughs, "alias of itself": "a: &a [*a]", "merge": "a: &a {x: y}\n<<: *a", "tag": "title: !!binary aGk=", "directive": "%YAML 1.2",
		"brackets": strings.Repeat("[", 1000), "braces": strings.Repeat("{", 1000), "dashes": strings.Repeat("- ", 500), "questions": strings.Repeat("? ", 500),
		"stairs of lists": stairs("-"), "stairs of keys": stairs("a:"), "many keys": strings.Repeat("a:\n", 30_000), "long line": "title: " + strings.Repeat("x", 2000),
		"open quote": "title: \"" + strings.Repeat("x\n", 40_000), "many scopes": "title: x\nscope:\n" + strings.Repeat("- a\n", 20_000),
		"commas": "scope: [\n" + strings.Repeat(",,,,,,,,,,\n", 8_000), "block": "title: |\n" + strings.Repeat(" x\n", 30_000),
		"document": "title: x\n...\ntitle: y", "large": strings.Repeat("# x\n", 30_000), "map as a key": "{a: b}: c", "list as a key": "[a]: c", "anchored key": "&a title: x",
	} {
		if p, issues := plan.Parse(with(front)); p != nil || len(issues) == 0 || len(issues) > plan.MaxIssues {
			t.Errorf("%s: plan %v, %d issues", name, p, len(issues))
		}
	}
}

func TestPlanIsBounded(t *testing.T) {
	most := slices.Concat([]byte(greeting), bytes.Repeat([]byte("x"), plan.MaxContent-len(greeting)-1), []byte("\n"))
	if p, issues := plan.Parse(most); p == nil {
		t.Errorf("the largest plan is refused: %v", issues)
	}
	for _, content := range [][]byte{append(most[:len(most)-1:len(most)-1], "y\n"...), bytes.Repeat([]byte("x"), 8<<20)} {
		p, issues := plan.Parse(content)
		if p != nil || len(issues) != 1 || issues[0].Rule != "size" {
			t.Errorf("%d bytes: %v", len(content), issues)
		}
	}
	var many []string
	for i := range plan.MaxGlobs {
		many = append(many, fmt.Sprintf("f%d", i))
	}
	must(t, scoped(many...))
	if p, _ := plan.Parse(scoped(append(many, "one-more")...)); p != nil {
		t.Error("one scope too many is accepted")
	}
}

func TestHashDoesNotDependOnLineEnds(t *testing.T) {
	want := plan.Hash([]byte(greeting))
	if len(want) != 64 {
		t.Fatalf("the hash is %q", want)
	}
	for name, same := range map[string]string{
		"CRLF": strings.ReplaceAll(greeting, "\n", "\r\n"), "no line end": strings.TrimSuffix(greeting, "\n"), "three line ends": greeting + "\n\n",
		"CRLF at the end": greeting + "\r\n\r\n",
	} {
		if got := plan.Hash([]byte(same)); got != want {
			t.Errorf("%s: another hash", name)
		}
		if p, issues := plan.Parse([]byte(same)); p == nil || p.Text != must(t, []byte(greeting)).Text {
			t.Errorf("%s: another plan: %v", name, issues)
		}
	}
	for name, other := range map[string]string{"a space": " " + greeting, "a blank line within": strings.Replace(greeting, "\n\n", "\n\n\n", 1), "a word": greeting + "x"} {
		if plan.Hash([]byte(other)) == want {
			t.Errorf("%s: the same hash", name)
		}
	}
}
