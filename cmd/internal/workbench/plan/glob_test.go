package plan_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/workbench/plan"
)

func TestScopeCoversBySegment(t *testing.T) {
	for _, c := range []struct{ glob, covered, not string }{
		{"src/**", "src/a src/b/c src/.hidden", "src srcs/a a/src/b Src/a SRC/a"},
		{"src", "src src/a src/b/c", "srcs a/src src2/a"},
		{"src/", "src/a src/b/c", "src srcs/a"},
		{"README.md", "README.md README.md/x", "readme.md a/README.md READMExmd"},
		{"src/*", "src/a src/.b", "src/a/b src"},
		{"*.md", "a.md .md", "b/a.md a.mdx"},
		{"**/*.go", "a.go b/a.go b/c/a.go", "a.goo go"},
		{"a/**/z", "a/z a/b/z a/b/c/z", "a/b/z/y b/z"},
		{"a/**/b/**/c", "a/b/c a/x/b/y/z/c", "a/c a/b/c/d"},
		{"{src,lib}/*.{go,md}", "src/a.go lib/b.md", "bin/a.go src/a.c src/b/a.go"},
		{"a{,b}/x", "a/x ab/x", "abc/x"},
		{"a[!x]b", "ayb", "axb a/b"}, // a class never crosses a slash
		{"a?b", "axb aéb", "a/b ab"},
		{"[*]", "*", "a"},
		{"src/**.go", "src/a.go", "src/b/a.go"},
		{"docs/**", "docs/a docs/plansets/a docs/reports/plans/x", "docs/plans/x docs/Plans/x DOCS/PLANS/x docs/plans docs/plans./x docs/pl\u200dans/x"},
		{"**", "a a/b .gitignore a.git/x digit~1 .github/x", "docs/plans/x .git/config a/.GIT/x .git./x git~1/x .hg/x .vscode/x a/.envrc"},
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
		"": "empty", " a": "space", "../x": "climbs", "a/../b": "climbs", "a/..": "climbs", "{..,a}/b": "climbs", "{.,a}./b": "climbs",
		"/etc/**": "absolute", "{/etc,a}/x": "absolute", "C:/x": "absolute", "~/x": "absolute",
		"docs/plans/**": "docs/plans", "docs/plans": "docs/plans", "Docs/PLANS/*": "docs/plans", "docs/{plans,x}/y": "docs/plans", "docs/plans/": "docs/plans",
		"a//b": "match nothing", "./a": "match nothing", "a/.": "match nothing", "/": "absolute",
		`a\b`: "backslash", "!a": "taken back", "[a": "not a valid glob", "a[/]b": "not a valid glob", "[]": "not a valid glob", "{a": "braces", "a}": "braces", "{a,{b,c}}": "braces",
		"a\u200bb": "invisible character", "a\u00a0b": "invisible character", strings.Repeat("a", 257): "longer", strings.Repeat("{a,b}", 7): "64 globs",
	} {
		p, issues := plan.Parse(scoped(glob))
		if p != nil || len(issues) != 1 || !strings.Contains(issues[0].Message, words) || issues[0].Line != 4 || issues[0].Column != 5 {
			t.Errorf("%q: want %q, got %v", glob, words, issues)
		}
	}
}

func TestBracesOfAWholePlanAreBounded(t *testing.T) {
	var many []string
	for range 20 {
		many = append(many, strings.Repeat("{a,b}", 6))
	}
	if p, issues := plan.Parse(scoped(many...)); p != nil || !strings.Contains(issues[len(issues)-1].String()+issues[0].String(), "1000 globs") {
		t.Errorf("issues: %v", issues)
	}
}

// TestHostileScopeIsCompared matches worst cases of backtracking, which must not take long.
func TestHostileScopeIsCompared(t *testing.T) {
	var globs []string
	for range 10 {
		globs = append(globs, strings.Repeat("{a,}", 6)+strings.Repeat("*a", 100)+"b", strings.Repeat("**/a*/", 40)+"b")
	}
	p := must(t, scoped(globs...))
	for _, path := range []string{strings.Repeat("a", 4000), strings.TrimSuffix(strings.Repeat("a/", 2000), "/"), strings.TrimSuffix(strings.Repeat(strings.Repeat("a", 100)+"/", 40), "/")} {
		if p.Covers(path) {
			t.Errorf("%.20q… is covered", path)
		}
	}
}
