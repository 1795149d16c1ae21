package contradiction

import (
	"slices"
	"strings"
)

// List is a sorted set of phrases, indexed by first letter.
type List struct {
	phrases []phrase
	from    ['z' - 'a' + 2]int // index of the first phrase with each first letter
}

type phrase struct {
	text  string
	first int // length of the first word
}

// NewList makes a list of phrases, which are lower-case words with single spaces between them. The list keeps no reference to the
// arguments.
func NewList(phrases ...string) List {
	var l List
	for _, text := range slices.Sorted(slices.Values(phrases)) {
		word, _, _ := strings.Cut(text, " ")
		l.phrases = append(l.phrases, phrase{text, len(word)})
	}
	for letter := range l.from {
		l.from[letter] = l.count(byte('a' + letter))
	}
	return l
}

// count returns the number of phrases that begin with an earlier letter.
func (l *List) count(letter byte) int {
	n := 0
	for _, p := range l.phrases {
		if p.text[0] < letter {
			n++
		}
	}
	return n
}

// startingLike returns the phrases that begin with the first letter of word.
func (l *List) startingLike(word string) []phrase {
	letter := lower(word[0])
	if letter < 'a' || letter > 'z' {
		return nil
	}
	return l.phrases[l.from[letter-'a']:l.from[letter-'a'+1]]
}

// at returns the first phrase that begins with the word text[at:end], and its end in text, or "".
func (l *List) at(text string, at, end int) (found string, foundEnd int) {
	word := text[at:end]
	for _, p := range l.startingLike(word) {
		if !p.beginsWith(word) {
			continue
		}
		if p.first == len(p.text) {
			return p.text, end
		}
		if last := match(text, end, p.text[p.first+1:]); last >= 0 {
			return p.text, last
		}
	}
	return "", 0
}

// has reports whether word is in the list.
func (l *List) has(word string) bool {
	for _, p := range l.startingLike(word) {
		if p.first == len(p.text) && p.beginsWith(word) {
			return true
		}
	}
	return false
}

// beginsWith reports whether word is the first word of p. The length rules out most phrases; only a curly apostrophe changes it.
func (p phrase) beginsWith(word string) bool {
	return (len(word) == p.first || len(word) == p.first+len("’")-1) && sameWord(word, p.text[:p.first])
}

// match returns the end of the words of rest if they follow text[:end] in the same sentence, else -1.
func match(text string, end int, rest string) int {
	for more := true; more; {
		at, g := skip(text, end)
		if at == len(text) || g == sentenceEnd {
			return -1
		}
		var word string
		word, rest, more = strings.Cut(rest, " ")
		end = wordEnd(text, at)
		if !sameWord(text[at:end], word) {
			return -1
		}
	}
	return end
}
