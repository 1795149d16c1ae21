package phrase

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"
	"unicode/utf8"
)

// Book finds phrases in a text. It is indexed by first word, so most texts need few comparisons.
type Book struct {
	lines []string // the phrases, which are parsed on first use

	once      sync.Once // sets the fields below
	byFirst   map[string][]ranked
	loose     []ranked          // phrases that begin with a gap, an exception or an ending
	classed   []ranked          // phrases that begin with a class, in groups of index modulo 64
	needing   map[string]uint64 // the groups of phrases in classed that cannot match without one of these words
	needless  uint64            // the groups of other phrases in classed
	spaceless []ranked          // phrases that begin in a script without spaces
}

// ranked is a phrase with a rank. Lower ranks win.
type ranked struct {
	Phrase
	rank int
}

// UnmarshalJSON reads a list of phrases, all of rank 0.
func (b *Book) UnmarshalJSON(raw []byte) error { return json.Unmarshal(raw, &b.lines) }

func (b *Book) parse() {
	for _, s := range b.lines {
		b.Add(Parse(s), 0)
	}
}

// Add adds a phrase with a rank.
func (b *Book) Add(p Phrase, rank int) {
	if b.byFirst == nil {
		b.byFirst = make(map[string][]ranked)
	}
	for len(p) > 1 && p[0].optional { // an optional first word makes two phrases
		b.Add(p[1:], rank)
		first := p[0]
		first.optional = false
		p = append(Phrase{first}, p[1:]...)
	}
	r := ranked{p, rank}
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
	case p[0].Class != "":
		b.addClassed(r)
		return
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

// addClassed adds a phrase that begins with a class. It is indexed by the first words that it cannot do without, because the end of a
// class costs more to find than a word.
func (b *Book) addClassed(r ranked) {
	group := uint64(1) << (len(b.classed) % 64)
	b.classed = append(b.classed, r)
	i := slices.IndexFunc(r.Phrase, Element.isPlain)
	if i < 0 {
		b.needless |= group
		return
	}
	if b.needing == nil {
		b.needing = make(map[string]uint64)
	}
	for _, w := range r.Phrase[i].words {
		b.needing[w] |= group
	}
}

// lowestClassed is like lowest for the phrases that begin with a class. It leaves out those whose words are not in the text.
func (b *Book) lowestClassed(t *Text, i, below int, skip Ranks) int {
	if t.possible == 0 {
		t.possible = b.needless
		for i := range t.Words {
			t.possible |= b.needing[string(t.Word(i))]
		}
	}
	for n := range b.classed {
		if t.possible>>(n%64)&1 != 0 {
			below = lowest(b.classed[n:n+1], t, i, below, skip)
		}
	}
	return below
}

// At reports whether a phrase of rank 0 begins at word i.
func (b *Book) At(t *Text, i int) bool { return b.RankAt(t, i, 1, 0) == 0 }

// Within reports whether a phrase of rank 0 begins among the first words of the text.
func (b *Book) Within(t *Text, words int) bool {
	for i := range min(len(t.Words), words) {
		if b.At(t, i) {
			return true
		}
	}
	return false
}

// RankAt returns the lowest rank below the given one of the phrases that begin at word i, or below itself if there are none. It
// ignores the ranks in skip.
func (b *Book) RankAt(t *Text, i, below int, skip Ranks) int {
	w := t.Word(i)
	b.once.Do(b.parse)
	below = lowest(b.byFirst[string(w)], t, i, below, skip)
	below = lowest(b.loose, t, i, below, skip)
	if len(b.classed) > 0 {
		below = b.lowestClassed(t, i, below, skip)
	}
	if len(b.spaceless) > 0 && bytes.ContainsFunc(w, func(c rune) bool { return c >= utf8.RuneSelf }) {
		below = lowest(b.spaceless, t, i, below, skip)
	}
	return below
}

// Ranks is a set of ranks below 64.
type Ranks uint64

func (s Ranks) has(rank int) bool { return s>>rank&1 != 0 }

func lowest(list []ranked, t *Text, i, below int, skip Ranks) int {
	for n := range list {
		if list[n].rank < below && !skip.has(list[n].rank) && list[n].MatchAt(t, i) {
			below = list[n].rank
		}
	}
	return below
}

// Set is a set of words, which is written as a list.
type Set map[string]bool

// UnmarshalJSON reads the list.
func (s *Set) UnmarshalJSON(raw []byte) error {
	var list []string
	err := json.Unmarshal(raw, &list)
	*s = SetOf(list...)
	return err
}

// SetOf returns a set of words.
func SetOf(words ...string) Set {
	s := make(Set, len(words))
	for _, w := range words {
		s[w] = true
	}
	return s
}
