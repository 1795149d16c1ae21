package catalogue

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/candor-mcp/candor/internal/catalogue/contradiction"
)

// Phrases is the content of spec/contradictions.json.
type Phrases struct {
	Version       int           `json:"version"`
	About         string        `json:"about"`
	Matching      []string      `json:"matching"`
	Negations     []string      `json:"negations"`
	NegationReach int           `json:"negationReach"`
	ClauseWords   []string      `json:"clauseWords"`
	LeadWords     []string      `json:"leadWords"`
	AfterReach    int           `json:"afterReach"`
	Rules         []PhraseRule  `json:"rules"`
	Examples      []PhraseTrial `json:"examples"`
}

// PhraseRule holds the phrases that contradict one kind of retry advice.
type PhraseRule struct {
	Retry        string   `json:"retry"`
	Phrases      []string `json:"phrases"`
	UnlessBefore []string `json:"unlessBefore"`
	UnlessAfter  []string `json:"unlessAfter"`
}

// PhraseTrial is an example for implementations in any language. Finds is nil if no phrase counts.
type PhraseTrial struct {
	Retry string  `json:"retry"`
	Text  string  `json:"text"`
	Finds *string `json:"finds"`
}

// LoadPhrases reads a file of contradictions and checks that it has exactly one rule per kind of advice and only phrases that the
// search can find.
func LoadPhrases(path string) (*Phrases, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the contradictions: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var p Phrases
	if err := dec.Decode(&p); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &p, nil
}

func (p *Phrases) check() error {
	if len(p.Rules) != len(RetryKinds()) {
		return fmt.Errorf("%d rules, want one for each of %v", len(p.Rules), RetryKinds())
	}
	lists := [][]string{p.Negations, p.ClauseWords, p.LeadWords}
	for i, kind := range RetryKinds() {
		rule := p.Rules[i]
		if rule.Retry != kind {
			return fmt.Errorf("rule %d is for %q, want %q", i, rule.Retry, kind)
		}
		lists = append(lists, rule.Phrases, rule.UnlessBefore, rule.UnlessAfter)
	}
	for _, phrase := range slices.Concat(lists...) {
		if !plainPhrase(phrase) {
			return fmt.Errorf("phrase %q is not made of lower-case words with single spaces", phrase)
		}
	}
	return nil
}

// plainPhrase reports whether the search could find the phrase: it begins with a letter and holds only
// letters, apostrophes inside words, and single spaces between them.
func plainPhrase(s string) bool {
	last := byte(' ')
	for i := range len(s) {
		letter := 'a' <= s[i] && s[i] <= 'z'
		if !letter && (last == ' ' || last == '\'' || s[i] != ' ' && s[i] != '\'') {
			return false
		}
		last = s[i]
	}
	return s != "" && last != ' ' && last != '\''
}

// Compile returns the phrases in the form that the search uses.
func (p *Phrases) Compile() *contradiction.Rules {
	rule := func(i int) contradiction.Rule {
		r := p.Rules[i]
		return contradiction.Rule{
			Phrases:      contradiction.NewList(r.Phrases...),
			UnlessBefore: contradiction.NewList(r.UnlessBefore...),
			UnlessAfter:  contradiction.NewList(r.UnlessAfter...),
		}
	}
	return &contradiction.Rules{
		Negations: contradiction.NewList(p.Negations...), NegationReach: p.NegationReach,
		ClauseWords: contradiction.NewList(p.ClauseWords...), LeadWords: contradiction.NewList(p.LeadWords...),
		AfterReach: p.AfterReach,
		Never:      rule(0), Immediate: rule(1), After: rule(2),
	}
}

// Contradicts returns the first phrase in text that contradicts the retry kind.
func Contradicts(rules *contradiction.Rules, retry, text string) (phrase string, bad bool) {
	switch retry {
	case RetryImmediate:
		return rules.Find(&rules.Immediate, text)
	case RetryAfterMs:
		return rules.Find(&rules.After, text)
	default:
		return rules.Find(&rules.Never, text)
	}
}
