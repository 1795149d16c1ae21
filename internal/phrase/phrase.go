// Package phrase matches phrases of a table over the words of a text.
//
// A phrase is written as words separated by spaces. "a|b" matches either word, a trailing "?" makes a word optional, "…" matches up
// to six words of one clause, "*ing" matches any word with that ending, a trailing ":" requires punctuation after the word, and a
// trailing "." requires the end of the line. A leading "!" matches any word except the listed ones. Words in scripts without spaces
// match inside a word. A word in capitals, "^", "$" and "*:" are classes, whose meaning is that of the text; a trailing "!" makes
// a class strong.
package phrase

import (
	"bytes"
	"slices"
	"strings"
)

// Text is a line or a sentence in lower case, split into words.
type Text struct {
	Bytes []byte
	Words []Word

	// Class returns the indexes at which an element that is a class can end if it begins at word i, the best first. It can be nil if
	// no phrase has classes.
	Class func(e *Element, i int) []int
	// Matched is called for each class of a phrase that matches, from the last to the first, with the words from which to which it
	// matches.
	Matched func(e *Element, from, to int)

	possible uint64 // the groups of phrases beginning with a class that can match; 0 is unknown. A text with classes is used with one book.
}

// Word is one word of a text, with the punctuation that follows it.
type Word struct {
	From, To uint16
	Mark     byte // the first punctuation character after it, or 0; a comma ends a clause
}

// Word returns word i.
func (t *Text) Word(i int) []byte { return t.Bytes[t.Words[i].From:t.Words[i].To] }

// Phrase is a parsed phrase.
type Phrase []Element

// Element is a part of a phrase.
type Element struct {
	Class  string // "" for words
	Strong bool

	words    []string
	optional bool
	gap      bool
	marked   bool
	last     bool
	except   bool
}

const maxGap = 6

// isPlain reports whether the element matches only the words that it lists.
func (e Element) isPlain() bool {
	return len(e.words) > 0 && !e.optional && !e.except && !slices.ContainsFunc(e.words, func(w string) bool { return w[0] == '*' || isSpaceless(w) })
}

// Parse parses a phrase.
func Parse(s string) Phrase {
	var p Phrase
	for _, part := range strings.Fields(s) {
		var e Element
		part, e.optional = strings.CutSuffix(part, "?")
		switch {
		case part == "…":
			e.gap = true
		case part == "^", part == "$", part == "*:", part[0] >= 'A' && part[0] <= 'Z':
			e.Class, e.Strong = strings.CutSuffix(part, "!")
		default:
			if !strings.HasSuffix("|"+part, "|:") { // the word is not the colon itself
				part, e.marked = strings.CutSuffix(part, ":")
			}
			if part != "." {
				part, e.last = strings.CutSuffix(part, ".")
			}
			part, e.except = strings.CutPrefix(part, "!")
			e.words = strings.Split(part, "|")
		}
		p = append(p, e)
	}
	return p
}

// MatchAt reports whether p matches the words from i on.
func (p Phrase) MatchAt(t *Text, i int) bool {
	if len(p) == 0 {
		return true
	}
	e := &p[0]
	switch {
	case e.gap:
		return p[1:].afterGap(t, i)
	case e.Class != "":
		for _, end := range t.Class(e, i) {
			if p[1:].MatchAt(t, end) {
				t.Matched(e, i, end)
				return true
			}
		}
	case i < len(t.Words) && e.matches(t, i) && p[1:].MatchAt(t, i+1):
		return true
	}
	return e.optional && p[1:].MatchAt(t, i)
}

func (p Phrase) afterGap(t *Text, i int) bool {
	for skip := 0; skip <= maxGap; skip++ {
		if p.MatchAt(t, i+skip) {
			return true
		}
		if i+skip < len(t.Words) && t.Words[i+skip].Mark == ',' { // another clause begins, and only its first word may continue the phrase
			return p.MatchAt(t, i+skip+1)
		}
	}
	return false
}

func (e *Element) matches(t *Text, i int) bool {
	if e.marked && strings.IndexByte(":-([!", t.Words[i].Mark) < 0 || e.last && i+1 < len(t.Words) {
		return false
	}
	w := t.Word(i)
	for _, want := range e.words {
		if wordIs(w, want) {
			return !e.except
		}
	}
	return e.except
}

// wordIs reports whether w matches want. In scripts without spaces between words, want may be any part of w.
func wordIs(w []byte, want string) bool {
	switch {
	case want[0] == '*':
		return len(w) >= len(want) && string(w[len(w)-len(want)+1:]) == want[1:]
	case isSpaceless(want):
		return bytes.Contains(w, []byte(want))
	default:
		return string(w) == want
	}
}

// isSpaceless reports whether a word of a phrase is in a script without spaces and is searched as a substring. Latin and Cyrillic
// letters have lower lead bytes in UTF-8.
func isSpaceless(want string) bool { return want[0] >= 0xe2 }
