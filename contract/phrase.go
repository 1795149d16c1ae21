package contract

import (
	"bytes"
	"strings"
)

// phrase is a short pattern over the words of a line. It is written as words with spaces between them; "a|b" is a choice, a
// trailing "?" makes a word optional, "…" stands for up to six words, "*ing" for any word with that ending, and a
// trailing ":" asks for punctuation behind the word.
type phrase []element

type element struct {
	words    []string
	optional bool
	gap      bool
	marked   bool
}

const maxGap = 6

func parsePhrase(s string) phrase {
	var p phrase
	for _, part := range strings.Fields(s) {
		var e element
		if part == "…" {
			p = append(p, element{gap: true})
			continue
		}
		part, e.optional = strings.CutSuffix(part, "?")
		part, e.marked = strings.CutSuffix(part, ":")
		e.words = strings.Split(part, "|")
		p = append(p, e)
	}
	return p
}

// matchAt reports whether p matches the words from i on.
func (p phrase) matchAt(l *line, i int) bool {
	if len(p) == 0 {
		return true
	}
	e := p[0]
	if e.gap {
		for skip := 0; skip <= maxGap; skip++ {
			if p[1:].matchAt(l, i+skip) {
				return true
			}
		}
		return false
	}
	if i < l.n && e.matches(l, i) && p[1:].matchAt(l, i+1) {
		return true
	}
	return e.optional && p[1:].matchAt(l, i)
}

func (e *element) matches(l *line, i int) bool {
	if e.marked && strings.IndexByte(":-([!", l.words[i].mark) < 0 {
		return false
	}
	w := l.word(i)
	for _, want := range e.words {
		if wordIs(w, want) {
			return true
		}
	}
	return false
}

// wordIs compares a word. Scripts that put no spaces between words are searched for the phrase instead.
func wordIs(w []byte, want string) bool {
	switch {
	case want[0] == '*':
		return len(w) >= len(want) && string(w[len(w)-len(want)+1:]) == want[1:]
	case want[0] >= 0xe2: // from here on scripts without spaces; Latin and Cyrillic letters come before
		return bytes.Contains(w, []byte(want))
	default:
		return string(w) == want
	}
}

// phrasebook finds phrases in a line. The first word of each decides quickly that most lines hold none.
type phrasebook struct {
	lines   []string // as written, for spec/phrases.json
	byFirst map[string][]phrase
	loose   []phrase // begin with a gap or an ending
}

func newPhrasebook(lists ...string) *phrasebook {
	b := &phrasebook{byFirst: make(map[string][]phrase)}
	for _, list := range lists {
		for s := range strings.Lines(list) {
			if s = strings.TrimSpace(s); s != "" {
				b.lines = append(b.lines, s)
				b.add(parsePhrase(s))
			}
		}
	}
	return b
}

func (b *phrasebook) add(p phrase) {
	for len(p) > 1 && p[0].optional { // an optional beginning is two phrases
		b.add(p[1:])
		first := p[0]
		first.optional = false
		p = append(phrase{first}, p[1:]...)
	}
	if p[0].gap {
		b.loose = append(b.loose, p)
		return
	}
	for _, w := range p[0].words {
		if w[0] == '*' || w[0] >= 0xe2 {
			b.loose = append(b.loose, p)
			return
		}
		b.byFirst[w] = append(b.byFirst[w], p)
	}
}

// at reports whether a phrase begins at word i.
func (b *phrasebook) at(l *line, i int) bool {
	for _, p := range b.byFirst[string(l.word(i))] {
		if p.matchAt(l, i) {
			return true
		}
	}
	for _, p := range b.loose {
		if p.matchAt(l, i) {
			return true
		}
	}
	return false
}

// begins reports whether the line begins with a phrase.
func (b *phrasebook) begins(l *line) bool { return l.n > 0 && b.at(l, 0) }

// within reports whether a phrase stands anywhere among the first words.
func (b *phrasebook) within(l *line, words int) bool {
	for i := range min(l.n, words) {
		if b.at(l, i) {
			return true
		}
	}
	return false
}
