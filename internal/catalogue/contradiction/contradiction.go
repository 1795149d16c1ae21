// Package contradiction finds words that contradict retry advice, such as "try again" with not_retryable.
//
// The rules are defined for all languages in spec/contradictions.json; this package implements them in Go. The generator checks
// the catalogue with it, and package candor the suggestions of errors.
package contradiction

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/candor-mcp/candor/spec"
)

// rules is the content of spec/contradictions.json.
type rules struct {
	Negations     list
	NegationReach int // number of words before a match in which a negation counts
	ClauseWords   list
	LeadWords     list
	AfterReach    int    // number of words after a match in which a condition may begin
	Rules         []rule // the first is for not_retryable
}

// rule holds the phrases that contradict one kind of advice, and those that excuse them.
type rule struct {
	Retry        string
	Phrases      list
	UnlessBefore list
	UnlessAfter  list
}

// contract is read on first use.
var contract = sync.OnceValue(func() *rules {
	r := new(rules)
	if err := json.Unmarshal(spec.Table("contradictions"), r); err != nil {
		panic(err) // programmer: a test reads the file
	}
	return r
})

// list is a set of phrases by their first word. Phrases are lower-case words with single spaces between them.
type list map[string][]string

// UnmarshalJSON reads a list of phrases.
func (l *list) UnmarshalJSON(raw []byte) error {
	var phrases []string
	err := json.Unmarshal(raw, &phrases)
	slices.Sort(phrases)
	*l = make(list)
	for _, phrase := range phrases {
		word, _, _ := strings.Cut(phrase, " ")
		(*l)[word] = append((*l)[word], phrase)
	}
	return err
}

// Find returns the first phrase in text that contradicts a kind of retry advice, such as not_retryable.
func Find(retry, text string) (phrase string, found bool) {
	var space [512]byte // enough for any suggestion
	s := search{rules: contract(), text: appendPlain(space[:0], text)}
	s.rule = &s.Rules[max(0, slices.IndexFunc(s.Rules, func(r rule) bool { return r.Retry == retry }))]
	s.nextSentence()
	for at, g := s.skip(0); at < len(s.text); {
		s.cross(g)
		end := s.wordEnd(at)
		if phrase, last := s.phraseAt(s.rule.Phrases, at, end); phrase != "" && !s.excused(last) {
			return phrase, true
		}
		s.pass(at, end)
		at, g = s.skip(end)
	}
	return "", false
}

// appendPlain appends text in lower case and with straight apostrophes.
func appendPlain(dst []byte, text string) []byte {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case 'A' <= c && c <= 'Z':
			dst = append(dst, c+'a'-'A')
		case strings.HasPrefix(text[i:], "’"):
			dst = append(dst, '\'')
			i += len("’") - 1
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// search is the state of one call of Find.
type search struct {
	*rules
	rule *rule
	text []byte // see appendPlain

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
	word := string(s.text[at:end])
	if s.atStart {
		if phrase, _ := s.phraseAt(s.rule.UnlessBefore, at, end); phrase != "" {
			s.changed = true
		}
		s.atStart = s.LeadWords[word] != nil
	}
	switch {
	case s.ClauseWords[word] != nil:
		s.nextClause()
	case s.Negations[word] != nil:
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
		at, g := s.skip(end)
		if at == len(s.text) || g == sentenceEnd {
			return false
		}
		end = s.wordEnd(at)
		if phrase, _ := s.phraseAt(s.rule.UnlessAfter, at, end); phrase != "" {
			return true
		}
	}
	return false
}

// phraseAt returns the first phrase of a list that begins with the word at [at, end), and its end, or "".
func (s *search) phraseAt(l list, at, end int) (phrase string, last int) {
	for _, phrase := range l[string(s.text[at:end])] {
		if last := s.match(end, phrase[end-at:]); last >= 0 {
			return phrase, last
		}
	}
	return "", 0
}

// match returns the end of the words of rest, which begins with a space, if they follow text[:end] in the same sentence, else -1.
func (s *search) match(end int, rest string) int {
	for rest != "" {
		at, g := s.skip(end)
		if at == len(s.text) || g == sentenceEnd {
			return -1
		}
		end = s.wordEnd(at)
		word := rest[1:]
		if i := strings.IndexByte(word, ' '); i >= 0 {
			word = word[:i]
		}
		if string(s.text[at:end]) != word {
			return -1
		}
		rest = rest[1+len(word):]
	}
	return end
}

// gap is the strongest separator between two words.
type gap uint8

const (
	space gap = iota
	clauseEnd
	sentenceEnd
)

// skip returns the position of the next word, or len(text), and the strongest separator before it.
func (s *search) skip(at int) (next int, passed gap) {
	for at < len(s.text) {
		r, size := utf8.DecodeRune(s.text[at:])
		if isWord(r) {
			break
		}
		at += size
		passed = max(passed, gapOf(r, s.text[at:]))
	}
	return at, passed
}

// gapOf returns the kind of separator of the rune r, given the text after it.
func gapOf(r rune, rest []byte) gap {
	switch r {
	case '!', '?', ';', '…':
		return sentenceEnd
	case '.':
		if next, _ := utf8.DecodeRune(rest); len(rest) == 0 || unicode.IsSpace(next) || strings.ContainsRune(`)]"'”`, next) {
			return sentenceEnd
		}
		return space
	case ',', ':', '(', ')', '–', '—', '\n', '\r':
		return clauseEnd
	default:
		return space
	}
}

// wordEnd returns the end of the word that begins at text[at:].
func (s *search) wordEnd(at int) int {
	for at < len(s.text) {
		r, size := utf8.DecodeRune(s.text[at:])
		if next, _ := utf8.DecodeRune(s.text[at+size:]); !isWord(r) && (r != '\'' || !isWord(next)) {
			break
		}
		at += size
	}
	return at
}

func isWord(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
