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
	b.refuses(err, candor.CodeKaizaOutsideWorkspace)
}

func TestAMatchedLineIsShortAndHarmless(t *testing.T) {
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

func TestAQueryThatCannotBeUnderstoodSaysWhere(t *testing.T) {
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
		b.refuses(err, candor.CodeKaizaInvalidInputValue)
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
