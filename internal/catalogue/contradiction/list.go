package contradiction

import (
	"slices"
	"strings"
)

// List is a sorted set of phrases that can be asked for by their first letter.
type List struct {
	phrases []string
	from    ['z' - 'a' + 2]uint16 // where the phrases with each first letter begin
}

// NewList makes a list of phrases: lower-case words with single spaces between them.
// The list keeps no reference to the arguments.
func NewList(phrases ...string) List {
	l := List{phrases: slices.Clone(phrases)}
	slices.Sort(l.phrases)
	for letter := range l.from {
		l.from[letter] = uint16(l.count(byte('a' + letter))) //nolint:gosec // a few hundred phrases at most
	}
	return l
}

// count returns how many phrases begin with a letter before this one.
func (l *List) count(letter byte) int {
	n := 0
	for _, p := range l.phrases {
		if p[0] < letter {
			n++
		}
	}
	return n
}

// startingLike returns the phrases whose first letter is that of text.
func (l *List) startingLike(text string) []string {
	letter := lower(text[0])
	if letter < 'a' || letter > 'z' {
		return nil
	}
	return l.phrases[l.from[letter-'a']:l.from[letter-'a'+1]]
}

// at returns the first phrase whose words stand at text[at:], and where they end.
func (l *List) at(text string, at int) (phrase string, end int) {
	for _, p := range l.startingLike(text[at:]) {
		if end := match(text, at, p); end >= 0 {
			return p, end
		}
	}
	return "", 0
}

// has reports whether word is in the list.
func (l *List) has(word string) bool {
	for _, p := range l.startingLike(word) {
		if sameWord(word, p) {
			return true
		}
	}
	return false
}

// match returns where the words of phrase end if they stand at text[at:] in one sentence, else -1.
func match(text string, at int, phrase string) int {
	for {
		word, rest, more := strings.Cut(phrase, " ")
		end := wordEnd(text, at)
		if !sameWord(text[at:end], word) {
			return -1
		}
		if !more {
			return end
		}
		next, g := skip(text, end)
		if next == len(text) || g == sentenceEnd {
			return -1
		}
		at, phrase = next, rest
	}
}
