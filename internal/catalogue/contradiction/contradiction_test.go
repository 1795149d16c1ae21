package contradiction

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/spec"
)

// examples are those of spec/contradictions.json. Finds is "" if no phrase counts.
func examples(t testing.TB) []struct{ Retry, Text, Finds string } {
	t.Helper()
	var file struct {
		Examples []struct{ Retry, Text, Finds string }
	}
	if err := json.Unmarshal(spec.Table("contradictions"), &file); err != nil || len(file.Examples) == 0 {
		t.Fatal(err)
	}
	return file.Examples
}

func TestEveryWrittenExampleHolds(t *testing.T) {
	for _, x := range examples(t) {
		if phrase, bad := Find(x.Retry, x.Text); phrase != x.Finds || bad != (x.Finds != "") {
			t.Errorf("%s, %q: found %q, want %q", x.Retry, x.Text, phrase, x.Finds)
		}
	}
}

// TestPhrasesCanBeFound checks that there is a rule for each kind of advice, and that all phrases are lower-case words.
func TestPhrasesCanBeFound(t *testing.T) {
	var c struct {
		Negations, ClauseWords, LeadWords []string
		Rules                             []struct {
			Retry                              string
			Phrases, UnlessBefore, UnlessAfter []string
		}
	}
	if err := json.Unmarshal(spec.Table("contradictions"), &c); err != nil {
		t.Fatal(err)
	}
	phrases := slices.Concat(c.Negations, c.ClauseWords, c.LeadWords)
	for i, kind := range []string{"not_retryable", "retryable_immediate", "retryable_after_ms"} {
		if c.Rules[i].Retry != kind {
			t.Errorf("rule %d is for %s, want %s", i, c.Rules[i].Retry, kind)
		}
		phrases = slices.Concat(phrases, c.Rules[i].Phrases, c.Rules[i].UnlessBefore, c.Rules[i].UnlessAfter)
	}
	plain := regexp.MustCompile(`^[a-z]+('[a-z]+)?( [a-z]+('[a-z]+)?)*$`)
	for _, phrase := range phrases {
		if !plain.MatchString(phrase) {
			t.Errorf("phrase %q", phrase)
		}
	}
}

func TestFindDoesNotAllocate(t *testing.T) {
	text := strings.Repeat("Read the file again, do not guess, and ask for what is missing. ", 8)
	if n := testing.AllocsPerRun(100, func() { Find("not_retryable", text) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzFind(f *testing.F) {
	for _, x := range examples(f) {
		f.Add(x.Text)
	}
	f.Add("don\u2019t\xff\u2019 try\x00again\u2026")
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range contract().Rules {
			if phrase, bad := Find(r.Retry, text); bad != (phrase != "") {
				t.Errorf("%q: phrase %q, and bad is %v", text, phrase, bad)
			}
		}
	})
}
