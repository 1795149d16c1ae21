package plan_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/workbench/plan"
)

func TestScopeCoversBySegment(t *testing.T) {
	for _, c := range []struct{ glob, covered, not string }{
		{"src/**", "src/a src/b/c src/.gitignore", "src/.hidden src srcs/a a/src/b Src/a SRC/a"},
		{"src", "src src/a src/b/c", "srcs a/src src2/a"},
		{"src/", "src/a src/b/c", "src srcs/a"},
		{"README.md", "README.md README.md/x", "readme.md a/README.md READMExmd"},
		{"src/*", "src/a src/..b", "src/.b src/a/b src"},
		{"*.md", "a.md", ".md b/a.md a.mdx"},
		{"**/*.go", "a.go b/a.go b/c/a.go", "a.goo go"},
		{"a/**/z", "a/z a/b/z a/b/c/z", "a/b/z/y b/z"},
		{"a/**/b/**/c", "a/b/c a/x/b/y/z/c", "a/c a/b/c/d"},
		{"a[x-z]b", "ayb", "aab a/b"},
		{"a?b", "axb aéb", "a/b ab"},
		{"[*]", "*", "a"},
		{"src/**.go", "src/a.go", "src/b/a.go"},
		{"docs/**", "docs/a docs/plansets/a docs/reports/plans/x", "docs/plans/x docs/Plans/x DOCS/PLANS/x docs/plans docs/plans./x docs/pl\u200dans/x"},
		{"**", "a a/b .gitignore a.git/x digit~1", ".github/x docs/plans/x .git/config a/.GIT/x .git./x git~1/x .hg/x .vscode/x a/.envrc"},
		{"**/.vscode/**", ".vscode/x a/.vscode/x", ".vscode/.git/x .idea/x"},
	} {
		p := must(t, scoped(c.glob))
		for path := range strings.FieldsSeq(c.covered) {
			if !p.Covers(path) {
				t.Errorf("%s does not cover %s", c.glob, path)
			}
		}
		for path := range strings.FieldsSeq(c.not) {
			if p.Covers(path) {
				t.Errorf("%s covers %s", c.glob, path)
			}
		}
	}
}

func TestPathThatIsNotCleanIsNotCovered(t *testing.T) {
	p := must(t, scoped("**", "src/**"))
	for _, path := range []string{"", ".", "..", "/", "/etc/passwd", "../x", "src/../x", "src//x", "src/./x", "src/", "./src", "src/\xff"} {
		if p.Covers(path) {
			t.Errorf("%q is covered", path)
		}
	}
	if (*plan.Plan)(nil).Covers("a") {
		t.Error("no plan covers a file")
	}
}

func TestImpossibleScopeIsRefused(t *testing.T) {
	for glob, words := range map[string]string{
		"": "empty", " a": "space", "../x": "climbs", "a/../b": "climbs", "a/..": "climbs",
		"/etc/**": "absolute", "C:/x": "absolute", "~/x": "absolute",
		"docs/plans/**": "docs/plans", "docs/plans": "docs/plans", "Docs/PLANS/*": "docs/plans", "docs/plans/": "docs/plans",
		"a//b": "match nothing", "./a": "match nothing", "a/.": "match nothing", "/": "absolute",
		`a\b`: "backslash", "!a": "taken back", "[a": "not a valid glob", "a[/]b": "not a valid glob", "a[!x]b": "matches a /", "a[.-0]b": "matches a /", "[]": "not a valid glob", "{a": "brace", "a}": "brace", "{a,b}/c": "two scopes",
		"a\u200bb": "invisible character", "a\u00a0b": "invisible character", strings.Repeat("a", 257): "longer",
	} {
		p, issues := plan.Parse(scoped(glob))
		if p != nil || len(issues) != 1 || !strings.Contains(issues[0].String(), words) || issues[0].Line != 4 || issues[0].Column != 5 {
			t.Errorf("%q: want %q, got %v", glob, words, issues)
		}
	}
}
