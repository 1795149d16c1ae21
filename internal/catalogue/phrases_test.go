package catalogue_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/catalogue"
)

func loadPhrases(t *testing.T) *catalogue.Phrases {
	t.Helper()
	p, err := catalogue.LoadPhrases("../../spec/contradictions.json")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestEveryWrittenExampleHolds(t *testing.T) {
	p := loadPhrases(t)
	rules := p.Compile()
	for _, x := range p.Examples {
		phrase, bad := catalogue.Contradicts(rules, x.Retry, x.Text)
		switch {
		case x.Finds == nil && bad:
			t.Errorf("%s, %q: found %q, want none", x.Retry, x.Text, phrase)
		case x.Finds != nil && phrase != *x.Finds:
			t.Errorf("%s, %q: found %q, want %q", x.Retry, x.Text, phrase, *x.Finds)
		}
	}
}

func TestTheSearchAllocatesNothing(t *testing.T) {
	rules := loadPhrases(t).Compile()
	text := strings.Repeat("Read the file again, do not guess, and ask for what is missing. ", 8)
	if n := testing.AllocsPerRun(100, func() { rules.Find(&rules.Never, text) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestUnfindablePhrasesAreRefused(t *testing.T) {
	data, err := os.ReadFile("../../spec/contradictions.json")
	if err != nil {
		t.Fatal(err)
	}
	for old, spoilt := range map[string]string{
		`"try again"`:           `"Try again"`,
		`"again later"`:         `"again  later"`,
		`"is retryable"`:        `"is-retryable"`,
		`"not_retryable"`:       `"never"`,
		`"negationReach"`:       `"reach"`,
		`{"retry": "retryable`:  `{"retry": "xretryable`,
		`"clauseWords": ["and"`: `"clauseWords": [""`,
	} {
		name := filepath.Join(t.TempDir(), "contradictions.json")
		if err := os.WriteFile(name, []byte(strings.Replace(string(data), old, spoilt, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := catalogue.LoadPhrases(name); err == nil {
			t.Errorf("%s was accepted in place of %s", spoilt, old)
		}
	}
}

func FuzzTheSearchIsTotal(f *testing.F) {
	p, err := catalogue.LoadPhrases("../../spec/contradictions.json")
	if err != nil {
		f.Fatal(err)
	}
	rules := p.Compile()
	for _, x := range p.Examples {
		f.Add(x.Text)
	}
	f.Add("don\u2019t\xff\u2019 try\x00again\u2026")
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range catalogue.RetryKinds() {
			phrase, bad := catalogue.Contradicts(rules, kind, text)
			if bad != (phrase != "") {
				t.Errorf("%q: phrase %q, and bad is %v", text, phrase, bad)
			}
			if upper, _ := catalogue.Contradicts(rules, kind, asciiUpper(text)); upper != phrase {
				t.Errorf("%q: %q in capitals is %q", text, phrase, upper)
			}
		}
	})
}

func asciiUpper(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'a' <= c && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}

func BenchmarkTheSearch(b *testing.B) {
	p, err := catalogue.LoadPhrases("../../spec/contradictions.json")
	if err != nil {
		b.Fatal(err)
	}
	rules := p.Compile()
	for _, text := range []string{
		"Wait as long as the retry advice says and send the same call again; if it persists, tell the operator.",
		strings.Repeat("Read the file again, do not guess, and ask for what is missing. ", 8),
	} {
		b.Run(strconv.Itoa(len(text)), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				rules.Find(&rules.After, text)
			}
		})
	}
}
