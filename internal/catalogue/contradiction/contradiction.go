// Package contradiction finds words that contradict retry advice, such as "try again" with not_retryable.
//
// The rules are defined for all languages in spec/contradictions.json; this package implements them in Go. The generator checks
// the catalogue with it, and package candor uses it at run time, so both always agree. It reads a text once, uses no regular
// expression and allocates nothing.
package contradiction

// Rules is the content of spec/contradictions.json in the form that the search needs.
type Rules struct {
	Negations     List
	NegationReach int // number of words before a match in which a negation counts
	ClauseWords   List
	LeadWords     List
	AfterReach    int // number of words after a match in which a condition may begin

	Never     Rule // for not_retryable
	Immediate Rule // for retryable_immediate
	After     Rule // for retryable_after_ms
}

// Rule holds the phrases that contradict one kind of advice, and those that excuse them.
type Rule struct {
	Phrases      List
	UnlessBefore List
	UnlessAfter  List
}

// Find returns the first phrase of rule in text that counts as a contradiction. rule must be a field of r.
func (r *Rules) Find(rule *Rule, text string) (phrase string, found bool) {
	s := search{Rules: r, rule: rule, text: text}
	s.nextSentence()
	for at, g := skip(text, 0); at < len(text); {
		s.cross(g)
		end := wordEnd(text, at)
		if phrase, last := rule.Phrases.at(text, at, end); phrase != "" && !s.excused(last) {
			return phrase, true
		}
		s.pass(at, end)
		at, g = skip(text, end)
	}
	return "", false
}

// search is the state of one call of Find.
type search struct {
	*Rules
	rule *Rule
	text string

	sinceNegation int  // words since the last negation of this clause
	atStart       bool // only lead words precede in this clause
	changed       bool // this sentence has asked for another call
}

func (s *search) nextSentence() {
	s.changed = false
	s.nextClause()
}

func (s *search) nextClause() {
	s.sinceNegation = s.NegationReach
	s.atStart = true
}

// cross updates the state for the separator between two words.
func (s *search) cross(g gap) {
	switch g {
	case sentenceEnd:
		s.nextSentence()
	case clauseEnd:
		s.nextClause()
	case space:
	}
}

// pass updates the state for the word at [at, end) after it has been checked.
func (s *search) pass(at, end int) {
	if s.atStart {
		if phrase, _ := s.rule.UnlessBefore.at(s.text, at, end); phrase != "" {
			s.changed = true
		}
		s.atStart = s.LeadWords.has(s.text[at:end])
	}
	switch word := s.text[at:end]; {
	case s.ClauseWords.has(word):
		s.nextClause()
	case s.Negations.has(word):
		s.sinceNegation = 0
	default:
		s.sinceNegation++
	}
}

// excused reports whether the match that ends at end does not count.
func (s *search) excused(end int) bool {
	return s.changed || s.sinceNegation < s.NegationReach || s.conditional(end)
}

// conditional reports whether a condition begins soon after the match.
func (s *search) conditional(end int) bool {
	for range s.AfterReach {
		at, g := skip(s.text, end)
		if at == len(s.text) || g == sentenceEnd {
			return false
		}
		end = wordEnd(s.text, at)
		if phrase, _ := s.rule.UnlessAfter.at(s.text, at, end); phrase != "" {
			return true
		}
	}
	return false
}
