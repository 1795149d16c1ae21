package candortest_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/candortest"
)

var update = flag.Bool("update", false, "write the generated parts of the documentation")

func TestDocumentationListsEveryCheck(t *testing.T) {
	path := filepath.Join("..", "docs", "candortest.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := between(t, string(page), "checks", checkTable())
	if want == string(page) {
		return
	}
	if !*update {
		t.Fatalf("%s is not up to date: run go test ./candortest -run Documentation -update", path)
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// between replaces the text between the two marks of a part.
func between(t *testing.T, page, part, text string) string {
	begin, end := "<!-- "+part+": ", "<!-- end of "+part+" -->"
	before, rest, ok := strings.Cut(page, begin)
	mark, rest, okMark := strings.Cut(rest, "\n")
	_, after, okEnd := strings.Cut(rest, end)
	if !ok || !okMark || !okEnd {
		t.Fatalf("the page has no place for the %s", part)
	}
	return before + begin + mark + "\n" + text + end + after
}

func checkTable() string {
	var b strings.Builder
	b.WriteString("| check | level | where | rule | why | needs |\n|---|---|---|---|---|---|\n")
	for _, r := range candortest.Checks() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", r.ID, r.Level, where(r), r.Title, r.Why, r.Needs)
	}
	return b.String()
}

func where(r candortest.Rule) string {
	var words []string
	if !r.HTTP {
		words = append(words, "stdio")
	}
	if !r.Stdio {
		words = append(words, "HTTP")
	}
	if len(r.Eras) == 1 {
		words = append(words, string(r.Eras[0]))
	}
	if len(words) == 0 {
		return "everywhere"
	}
	return strings.Join(words, ", ")
}

func TestEveryRuleExplainsItself(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range candortest.Checks() {
		if seen[r.ID] {
			t.Errorf("%s is there twice", r.ID)
		}
		seen[r.ID] = true
		for name, text := range map[string]string{"title": r.Title, "why": r.Why, "fix": r.Fix} {
			if !strings.HasSuffix(text, ".") || len(text) > 300 {
				t.Errorf("%s: the %s is no sentence: %q", r.ID, name, text)
			}
		}
	}
}
