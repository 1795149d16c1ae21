package catalogue_test

import (
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
			t.Errorf("%s, %q: found %q, and nothing was due", x.Retry, x.Text, phrase)
		case x.Finds != nil && phrase != *x.Finds:
			t.Errorf("%s, %q: found %q, and %q was due", x.Retry, x.Text, phrase, *x.Finds)
		}
	}
}
