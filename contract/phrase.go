package contract

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"unicode/utf8"
)

// phrase is a pattern over the words of a line. It is written as words separated by spaces. "a|b" matches either word, a trailing
// "?" makes a word optional, "…" matches up to six words of one clause, "*ing" matches any word with that ending, a trailing ":"
// requires punctuation after the word, and a trailing "." requires the end of the line. A leading "!" matches any word except the
// listed ones.
type phrase []element

type element struct {
	words    []string
	optional bool
	gap      bool
	marked   bool
	last     bool
	except   bool
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
		part, e.last = strings.CutSuffix(part, ".")
		part, e.except = strings.CutPrefix(part, "!")
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
			if i+skip < l.n && l.words[i+skip].mark == ',' { // another clause begins, and only its first word may continue the phrase
				return p[1:].matchAt(l, i+skip+1)
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
	if e.marked && strings.IndexByte(":-([!", l.words[i].mark) < 0 || e.last && i+1 < l.n {
		return false
	}
	w := l.word(i)
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

// phrasebook finds phrases in a line. It is indexed by first word, so most lines need few comparisons.
type phrasebook struct {
	lines []string // the phrases, which are parsed on first use

	once      sync.Once // sets the fields below
	byFirst   map[string][]ranked
	loose     []ranked // phrases that begin with a gap, an exception or an ending
	spaceless []ranked // phrases that begin in a script without spaces
}

// ranked is a phrase with a rank. Lower ranks win.
type ranked struct {
	phrase
	rank int
}

// UnmarshalJSON reads a list of phrases.
func (b *phrasebook) UnmarshalJSON(raw []byte) error { return json.Unmarshal(raw, &b.lines) }

func (b *phrasebook) parse() {
	for _, s := range b.lines {
		b.add(ranked{parsePhrase(s), 0})
	}
}

func (b *phrasebook) add(r ranked) {
	if b.byFirst == nil {
		b.byFirst = make(map[string][]ranked)
	}
	p := r.phrase
	for len(p) > 1 && p[0].optional { // an optional first word makes two phrases
		b.add(ranked{p[1:], r.rank})
		first := p[0]
		first.optional = false
		p = append(phrase{first}, p[1:]...)
	}
	r.phrase = p
	plain, spaceless := 0, 0
	for _, w := range p[0].words {
		switch {
		case isSpaceless(w):
			spaceless++
		case w[0] != '*':
			plain++
		}
	}
	switch {
	case p[0].gap || p[0].except || plain+spaceless < len(p[0].words):
		b.loose = append(b.loose, r)
		return
	case spaceless > 0:
		b.spaceless = append(b.spaceless, r)
	}
	for _, w := range p[0].words {
		if !isSpaceless(w) {
			b.byFirst[w] = append(b.byFirst[w], r)
		}
	}
}

// isSpaceless reports whether a word of a phrase is in a script without spaces and is searched as a substring. Latin and Cyrillic
// letters have lower lead bytes in UTF-8.
func isSpaceless(want string) bool { return want[0] >= 0xe2 }

// at reports whether a phrase begins at word i.
func (b *phrasebook) at(l *line, i int) bool { return b.rankAt(l, i, 1, 0) == 0 }

// rankAt returns the lowest rank below the given one of the phrases that begin at word i, or below itself otherwise. It
// ignores the ranks in skip.
func (b *phrasebook) rankAt(l *line, i, below int, skip rankSet) int {
	w := l.word(i)
	b.once.Do(b.parse)
	below = lowest(b.byFirst[string(w)], l, i, below, skip)
	below = lowest(b.loose, l, i, below, skip)
	if len(b.spaceless) > 0 && bytes.ContainsFunc(w, func(c rune) bool { return c >= utf8.RuneSelf }) {
		below = lowest(b.spaceless, l, i, below, skip)
	}
	return below
}

// rankSet is a set of ranks below 64.
type rankSet uint64

func (s rankSet) has(rank int) bool { return s>>rank&1 != 0 }

func lowest(list []ranked, l *line, i, below int, skip rankSet) int {
	for n := range list {
		if list[n].rank < below && !skip.has(list[n].rank) && list[n].matchAt(l, i) {
			below = list[n].rank
		}
	}
	return below
}

// begins reports whether the line begins with a phrase.
func (b *phrasebook) begins(l *line) bool { return l.n > 0 && b.at(l, 0) }

// within reports whether a phrase begins among the first words of the line.
func (b *phrasebook) within(l *line, words int) bool {
	for i := range min(l.n, words) {
		if b.at(l, i) {
			return true
		}
	}
	return false
}
