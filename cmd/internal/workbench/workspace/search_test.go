package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

func (b *bench) search(q Query) (shown []string, m Matches) {
	b.t.Helper()
	m, err := b.folder.Search(context.Background(), q)
	b.must(err)
	for _, f := range m.Found {
		shown = append(shown, fmt.Sprintf("%s:%d:%s", f.Path, f.Line, f.Text))
	}
	return shown, m
}

func TestASearchFindsLinesAndStaysInside(t *testing.T) {
	b := newBench(t, Options{})
	b.put("a.go", "one\r\nneedle (x)\nthree\nlast needle")
	b.put("d/b.go", "needle")
	b.put("d/c.txt", "needle")
	b.put("binary", "needle\x00")
	b.put(".git/config", "needle")
	b.put("d/.git/config", "needle")
	b.symlink("../outside", "door")
	b.symlink("a.go", "near")
	b.must(os.Link(filepath.Join(b.out, "secret.txt"), filepath.Join(b.in, "hard")))
	got, m := b.search(Query{Pattern: "needle"})
	if want := []string{"a.go:2:needle (x)", "a.go:4:last needle", "d/b.go:1:needle", "d/c.txt:1:needle"}; !slices.Equal(got, want) || m.Stopped != "" || m.Files != 3 || m.Skipped != 2 {
		t.Errorf("got %q, %+v", got, m)
	}
	if got, _ := b.search(Query{Pattern: "secret"}); got != nil {
		t.Errorf("read outside: %q", got)
	}
	if got, _ := b.search(Query{Pattern: "(x)", Literal: true}); !slices.Equal(got, []string{"a.go:2:needle (x)"}) {
		t.Errorf("got %q", got)
	}
	if got, _ := b.search(Query{Pattern: "^needle", Glob: "**/*.go"}); !slices.Equal(got, []string{"a.go:2:needle (x)", "d/b.go:1:needle"}) {
		t.Errorf("got %q", got)
	}
	if got, _ := b.search(Query{Pattern: "needle", In: b.path("d"), Glob: "d/*.{txt,md}"}); !slices.Equal(got, []string{"d/c.txt:1:needle"}) {
		t.Errorf("got %q", got)
	}
	if got, m := b.search(Query{Pattern: "needle", MaxMatches: 2}); len(got) != 2 || m.Stopped != "matches" {
		t.Errorf("got %q, %+v", got, m)
	}
	_, err := b.folder.Search(context.Background(), Query{Pattern: "secret", In: b.path("door")})
	b.refuses(err, kaiza.OutsideWorkspace)
}

func TestMatchedLineIsShortAndClean(t *testing.T) {
	b := newBench(t, Options{})
	b.put("a", "needle \x1b[31m\u202e\tred\nneedle "+strings.Repeat("é", 300)+"\nneedle \xff\xfe"+strings.Repeat("\xff", 400))
	got, m := b.search(Query{Pattern: "needle"})
	if len(got) != 3 || got[0] != "a:1:needle \ufffd[31m\ufffd red" {
		t.Errorf("got %q", got)
	}
	for _, f := range m.Found {
		if len(f.Text) > 256 || !utf8.ValidString(f.Text) || strings.ContainsFunc(f.Text, deceptive) {
			t.Errorf("%d bytes: %q", len(f.Text), f.Text)
		}
	}
}

func TestInvalidQueryNamesThePosition(t *testing.T) {
	b := newBench(t, Options{})
	for _, c := range []struct {
		q         Query
		field, at string
	}{
		{Query{}, "pattern", ""},
		{Query{Pattern: "a(b"}, "pattern", "a(b"},
		{Query{Pattern: "x[z-a]y"}, "pattern", "z-a"},
		{Query{Pattern: "(?<=a)b"}, "pattern", "(?<=a)b"},
		{Query{Pattern: strings.Repeat("a", 1001)}, "pattern", ""},
		{Query{Pattern: "((a{100}){100}){100}"}, "pattern", "{100}"},
		{Query{Pattern: "a", Glob: "src/[a"}, "glob", "src/[a"},
		{Query{Pattern: "a", Glob: "{a,b"}, "glob", "{a,b"},
		{Query{Pattern: "a", Glob: strings.Repeat("{,}", 20)}, "glob", ""},
		{Query{Pattern: "a", MaxMatches: 1001}, "max_matches", ""},
		{Query{Pattern: "a", MaxMatches: -1}, "max_matches", ""},
	} {
		_, err := b.folder.Search(context.Background(), c.q)
		b.refuses(err, kaiza.InvalidInputValue)
		details := map[string]string{}
		b.must(candor.From(err).Details().Decode(&details))
		if details["field"] != c.field || details["at"] != c.at {
			t.Errorf("%+v: %v", c.q, details)
		}
	}
}

func TestASearchEndsWithItsTime(t *testing.T) {
	b := newBench(t, Options{})
	b.put("a", "x")
	late, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancel()
	m, err := b.folder.Search(late, Query{Pattern: "x"})
	if err != nil || m.Stopped != "time" || len(m.Found) != 0 {
		t.Errorf("%+v, %v", m, err)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = b.folder.Search(gone, Query{Pattern: "x"})
	b.refuses(err, candor.CodeCancelled)
}

// TestAnchoredPatternIsNotLiteral checks that an expression that contains a literal is not reduced to it.
func TestAnchoredPatternIsNotLiteral(t *testing.T) {
	b := newBench(t, Options{})
	b.put("a", "abc\nxabc\nabcx\nABC\na.c\n")
	for pattern, want := range map[string]string{
		"^abc$": "[a:1:abc]", "^abc": "[a:1:abc a:3:abcx]", "abc$": "[a:1:abc a:2:xabc]", `\babc\b`: "[a:1:abc]",
		"abc": "[a:1:abc a:2:xabc a:3:abcx]", "(?i)^abc$": "[a:1:abc a:4:ABC]", "(?i)ABCX": "[a:3:abcx]", `a\.c`: "[a:5:a.c]",
	} {
		if got, _ := b.search(Query{Pattern: pattern}); fmt.Sprint(got) != want {
			t.Errorf("%s finds %q, not %s", pattern, got, want)
		}
	}
}

// TestAGlobMayBeginWithADot checks that only a leading ./ is removed from a glob, not the dot of a name.
func TestAGlobMayBeginWithADot(t *testing.T) {
	b := newBench(t, Options{})
	for _, name := range []string{".github/workflows/ci.yml", "github/workflows/ci.yml", ".env", "src/.env", "src/a.yml"} {
		b.put(name, "needle")
	}
	for glob, want := range map[string]string{
		".github/**/*.yml": "[.github/workflows/ci.yml:1:needle]",
		".*/**":            "[.env:1:needle .github/workflows/ci.yml:1:needle]",
		"./src/*.yml":      "[src/a.yml:1:needle]",
		"./.env":           "[.env:1:needle]",
		".env":             "[.env:1:needle src/.env:1:needle]",
		"./":               "[.env:1:needle .github/workflows/ci.yml:1:needle github/workflows/ci.yml:1:needle src/.env:1:needle src/a.yml:1:needle]",
	} {
		if got, _ := b.search(Query{Pattern: "needle", Glob: glob}); fmt.Sprint(got) != want {
			t.Errorf("%s finds %q, not %s", glob, got, want)
		}
	}
}

// shortly is a context that expires after a number of checks.
type shortly struct {
	context.Context
	left int
}

func (s *shortly) Err() error {
	if s.left--; s.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

func TestSearchTimeoutInTheLastFileIsReported(t *testing.T) {
	b := newBench(t, Options{})
	b.put("a", strings.Repeat(strings.Repeat("x", 1<<10)+"\n", 1<<10)+"needle")
	q := Query{Pattern: "needle|y{900}z{900}"}
	if got, m := b.search(q); len(got) != 1 || m.Stopped != "" {
		t.Fatalf("with time enough %q, %+v", got, m)
	}
	m, err := b.folder.Search(&shortly{context.Background(), 1}, q)
	if err != nil || m.Stopped != "time" || len(m.Found) != 0 {
		t.Errorf("%+v, %v", m, err)
	}
}

// TestCutLineDoesNotMatchAnEndAnchor checks that the cut of a long line does not match as its end.
func TestCutLineDoesNotMatchAnEndAnchor(t *testing.T) {
	b := newBench(t, Options{})
	b.put("a", "x "+strings.Repeat("x", 1<<20)+"END")
	for pattern, want := range map[string]int{
		`x$|y{900}$`:        0,
		`x\b$|y{900}`:       0,
		`xx\b|y{900}`:       0,
		`(x(x\z|q)|y{900})`: 0,
		`^x\b|y{900}`:       1,
		`^x x+|y{900}`:      1, // a match that does not depend on the following text
	} {
		if got, m := b.search(Query{Pattern: pattern}); len(got) != want || m.Cut != 1 {
			t.Errorf("%s finds %d lines, %d of them cut", pattern, len(got), m.Cut)
		}
	}
}
