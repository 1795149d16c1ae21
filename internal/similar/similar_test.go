package similar

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
		{"read_file_text", []string{"read_text_file", "write_file", "read_media"}, []string{"read_text_file"}},
		{"list_user", []string{"drop_user"}, []string{}},
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

func TestMisspeltAsksForASlip(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, known string
		want        bool
	}{
		{"limt", "limit", true},
		{"qeury", "query", true},
		{"maxResults", "max_results", true},
		{"Limit", "limit", true},
		{"repositry_naem", "repository_name", true},
		{"paths", "path", true},
		{"line2", "line1", false},
		{"limit2", "limit", false},
		{"id", "ids", false},
		{"from_date", "to_date", false},
		{"start", "state", false},
		{"min", "max", false},
		{strings.Repeat("a", 1<<20), "a", false},
	} {
		if got := Misspelt(c.name, c.known); got != c.want {
			t.Errorf("Misspelt(%.20q, %q) = %v", c.name, c.known, got)
		}
	}
}

func TestABeginningOrAWordOfANameIsUnderstood(t *testing.T) {
	for _, c := range []struct {
		word  string
		known []string
		want  []string
	}{
		{"chekc", []string{"check", "config"}, []string{"check"}},
		{"exp", []string{"gateway", "explain", "export"}, []string{"explain", "export"}},
		{"GATEWAY", []string{"GATEWAY_DRAINING", "BAD_GATEWAY", "TIMEOUT"}, []string{"BAD_GATEWAY", "GATEWAY_DRAINING"}},
		{"timeou", []string{"TIMEOUT", "TIMEOUT", "TIMEOUT", "TIMEOUT_LOCK"}, []string{"TIMEOUT", "TIMEOUT_LOCK"}},
		{"rate", []string{"rate-a", "rate-b", "rate-c", "rate-d"}, []string{"rate-a", "rate-b", "rate-c"}},
		{"ex", []string{"explain"}, []string{}},
		{"xyzzy", []string{"explain"}, []string{}},
	} {
		if got := Typed(c.word, c.known); !slices.Equal(got, c.want) {
			t.Errorf("Typed(%q) = %q, want %q", c.word, got, c.want)
		}
	}
}
