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

	"github.com/candor-mcp/candor/internal/phrase"
	"github.com/candor-mcp/candor/spec"
)

// rules is the content of spec/contradictions.json.
type rules struct {
	Negations     phrase.Set
	NegationReach int // number of words before a match in which a negation counts
	ClauseWords   phrase.Set
	LeadWords     phrase.Set
	AfterReach    int     // number of words after a match in which a condition may begin
	Rules         []*rule // the first is for not_retryable
}

// rule holds the phrases that contradict one kind of advice, and those that excuse them.
type rule struct {
	Retry        string
	Phrases      list
	UnlessBefore phrase.Book
	UnlessAfter  phrase.Book
}

// contract is read on first use.
var contract = sync.OnceValue(func() *rules {
	r := new(rules)
	if err := json.Unmarshal(spec.Table("contradictions"), r); err != nil {
		panic(err) // programmer: a test reads the file
	}
	return r
})

// list has phrases by rank: lower-case words with single spaces between them, sorted.
type list struct {
	phrase.Book
	phrases []string
}

// UnmarshalJSON reads a list of phrases.
func (l *list) UnmarshalJSON(raw []byte) error {
	err := json.Unmarshal(raw, &l.phrases)
	slices.Sort(l.phrases)
	for rank, p := range l.phrases {
		l.Add(phrase.Parse(p), rank)
	}
	return err
}

// Find returns the first phrase in text that contradicts a kind of retry advice, such as not_retryable.
func Find(retry, text string) (found string, ok bool) {
	var lower [512]byte // enough for any suggestion
	var words [96]phrase.Word
	s := search{rules: contract()}
	r := s.Rules[max(0, slices.IndexFunc(s.Rules, func(r *rule) bool { return r.Retry == retry }))]
	for left := appendPlain(lower[:0], text); len(left) > 0; {
		s.Bytes = left
		s.Words, left = sentence(left, words[:0])
		s.changed = false
		s.nextClause()
		for i := range s.Words {
			l := &r.Phrases
			if rank := l.RankAt(&s.Text, i, len(l.phrases), 0); rank < len(l.phrases) && !s.excused(r, i+1+strings.Count(l.phrases[rank], " ")) {
				return l.phrases[rank], true
			}
			s.pass(r, i)
		}
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
	phrase.Text // the sentence that is searched

	sinceNegation int  // words since the last negation of this clause
	atStart       bool // only lead words precede in this clause
	changed       bool // this sentence has asked for another call
}

// sentence appends the words of the first sentence of a text to words, and returns the text after it.
func sentence(text []byte, words []phrase.Word) (split []phrase.Word, left []byte) {
	at := 0
	for at < min(len(text), maxSentence) {
		end := wordEnd(text[:min(len(text), maxSentence)], at)
		if end > at {
			words = append(words, phrase.Word{From: uint16(at), To: uint16(end)}) //nolint:gosec // see maxSentence
			at = end
			continue
		}
		r, size := utf8.DecodeRune(text[at:])
		at += size
		switch g := gapOf(r, text[at:]); {
		case g == sentenceEnd:
			return words, text[at:]
		case g == clauseEnd && len(words) > 0:
			words[len(words)-1].Mark = ','
		}
	}
	return words, text[at:]
}

// maxSentence is the number of bytes after which a sentence ends in any case.
const maxSentence = 32 << 10

func (s *search) nextClause() {
	s.sinceNegation = s.NegationReach
	s.atStart = true
}

// pass updates the state for word i after it has been checked.
func (s *search) pass(r *rule, i int) {
	word := string(s.Word(i))
	if s.atStart {
		s.changed = s.changed || r.UnlessBefore.At(&s.Text, i)
		s.atStart = s.LeadWords[word]
	}
	switch {
	case s.ClauseWords[word], s.Words[i].Mark == ',':
		s.nextClause()
	case s.Negations[word]:
		s.sinceNegation = 0
	default:
		s.sinceNegation++
	}
}

// excused reports whether a match does not count, because of the words before it or of a condition that begins soon after it, at word end.
func (s *search) excused(r *rule, end int) bool {
	if s.changed || s.sinceNegation < s.NegationReach {
		return true
	}
	for i := end; i < min(end+s.AfterReach, len(s.Words)); i++ {
		if r.UnlessAfter.At(&s.Text, i) {
			return true
		}
	}
	return false
}

// gap is a separator between two words.
type gap uint8

const (
	space gap = iota
	clauseEnd
	sentenceEnd
)

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

// wordEnd returns the end of the word that begins at text[at:], or at.
func wordEnd(text []byte, at int) int {
	for i := at; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if next, _ := utf8.DecodeRune(text[i+size:]); !isWord(r) && (r != '\'' || i == at || !isWord(next)) {
			return i
		}
		i += size
	}
	return len(text)
}

func isWord(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
