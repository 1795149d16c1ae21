package near

import (
	"slices"
	"strings"
	"testing"
)

func TestProbableNamesComeMostSimilarFirst(t *testing.T) {
	for _, c := range []struct {
		name  string
		known []string
		want  []string
	}{
		{"pth", []string{"path", "depth", "body"}, []string{"path", "depth"}},
		{"tools/lst", []string{"tools/call", "tools/list"}, []string{"tools/list", "tools/call"}},
		{"filePath", []string{"file_path", "content"}, []string{"file_path"}},
		{"haed", []string{"head", "tail"}, []string{"head"}},
		{"abcx", []string{"abcd", "abcc", "abcb", "abca"}, []string{"abca", "abcb", "abcc"}},
		{"zzz", []string{"path"}, []string{}},
		{strings.Repeat("a", 1<<20), []string{"a"}, []string{}},
	} {
		if got := Names(c.name, c.known); !slices.Equal(got, c.want) {
			t.Errorf("Names(%.20q) = %q, want %q", c.name, got, c.want)
		}
	}
}

func TestNamesAreQuotedForASentence(t *testing.T) {
	if got := Quote([]string{"a", "b\n", "c"}); got != `"a", "b\n" or "c"` {
		t.Error(got)
	}
}

func TestAHintNamesWhatIsNearOrSomethingElse(t *testing.T) {
	t.Parallel()
	known := []string{"rules", "builtin"}
	if got := Hint("rulez", known, "one of those"); got != `did you mean "rules"?` {
		t.Error(got)
	}
	if got := Hint("zzz", known, "one of those"); got != "one of those" {
		t.Error(got)
	}
}
