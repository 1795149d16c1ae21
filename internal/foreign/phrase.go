package foreign

import (
	"slices"
	"strings"
	"sync"

	"github.com/candor-mcp/candor/internal/phrase"
)

// grammar holds the phrases of spec/phrases.json with which servers name a failing argument in prose, each with the rule that
// failed. The first phrase that matches at a token wins. Their classes are:
//
//	KIND        parameter, argument, field and their like
//	NAME        an argument's name, quoted or bare;  NAMES several, joined by commas and words
//	IDENT       a name that does not look like prose: quoted, known, camelCase or snake_case;  IDENTS several
//	QUOTED      a name in quotes
//	PARAM       parameter, argument: words that are not used for a column or a file
//	ANY         any one token;  *: skips to a colon in the same line
//	^  $        the beginning and the end of a sentence
//
// Strong ones admit words such as "value" or "key" that are mostly prose elsewhere.
type grammar struct {
	phrase.Book
	phrases []phrase.Phrase
	rules   []string
}

// sentences compiles the phrases on first use.
var sentences = sync.OnceValue(func() *grammar { return newGrammar(tables().Fields...) })

// newGrammar compiles lines of the form "rule: phrase".
func newGrammar(lines ...string) *grammar {
	g := new(grammar)
	for rank, line := range lines {
		rule, pattern, _ := strings.Cut(line, ": ")
		g.phrases, g.rules = append(g.phrases, phrase.Parse(pattern)), append(g.rules, rule)
		g.Add(g.phrases[rank], rank)
	}
	return g
}

// prose is a text in which phrases are looked for.
type prose struct {
	*reader
	phrase.Text
	toks  []token
	names []string // of the last phrase that matched
	first []firstEnds
	used  []int // all ends of this find
	space struct {
		first [8]firstEnds
		used  [16]int
	}
}

// firstEnds are the ends of a class at the token at which phrases are tried: many phrases begin with the same class.
type firstEnds struct {
	*phrase.Element
	at   int
	ends []int
}

func (r *reader) prose(toks []token) *prose {
	p := &prose{reader: r, toks: toks}
	p.Words = make([]phrase.Word, len(toks))
	for i, t := range toks {
		from := len(p.Bytes)
		if t.kind != kindQuoted { // the words of a phrase match none in quotes
			p.Bytes = append(p.Bytes, t.low...)
		}
		p.Words[i] = phrase.Word{From: uint16(from), To: uint16(len(p.Bytes))} //nolint:gosec // a text has at most MaxText bytes
	}
	p.Class, p.Matched, p.first, p.used = p.endsOf, p.keep, p.space.first[:0], p.space.used[:0]
	return p
}

// find returns the rule of the first phrase that matches at token i, and the names in it, or none.
func (p *prose) find(g *grammar, i int) (rule string, names []string) {
	p.first, p.used = append(p.first[:0], firstEnds{at: i}), p.used[:0]
	rank := g.RankAt(&p.Text, i, len(g.phrases), 0)
	if rank == len(g.phrases) {
		return "", nil
	}
	p.names = nil
	g.phrases[rank].MatchAt(&p.Text, i)
	return g.rules[rank], p.names
}

// keep adds the names between two tokens to those that follow.
func (p *prose) keep(e *phrase.Element, from, to int) {
	var names []string
	p.eachName(e, from, func(name string, next int) bool {
		names = append(names, name)
		return next < to
	})
	p.names = append(names, p.names...)
}

// endsOf returns where a class can end that begins at token i, the longest first.
func (p *prose) endsOf(e *phrase.Element, i int) []int {
	if i != p.first[0].at {
		return p.ends(e, i)
	}
	for _, f := range p.first[1:] {
		if f.Class == e.Class && f.Strong == e.Strong {
			return f.ends
		}
	}
	ends := p.ends(e, i)
	p.first = append(p.first, firstEnds{e, i, ends})
	return ends
}

func (p *prose) ends(e *phrase.Element, i int) []int {
	from := len(p.used)
	p.used = p.appendEnds(p.used, e, i)
	return p.used[from:]
}

func (p *prose) appendEnds(ends []int, e *phrase.Element, i int) []int {
	if i >= len(p.toks) {
		if e.Class == "$" {
			ends = append(ends, i)
		}
		return ends
	}
	t, after := p.toks[i], 0
	switch e.Class {
	case "^", "$":
		if t.head || e.Class == "$" && t.kind == kindMark {
			ends = append(ends, i)
		}
		return ends
	case "*:":
		after = skipToColon(p.toks, i)
	case "ANY":
		after = i + 1
	case "KIND":
		after = wordOf(tables().Kinds, t, i)
	case "PARAM":
		after = wordOf(tables().Params, t, i)
	}
	if after > 0 {
		return append(ends, after)
	}
	from := len(ends)
	p.eachName(e, i, func(_ string, next int) bool {
		ends = append(ends, next)
		return true
	})
	slices.Reverse(ends[from:]) // longer lists are tried first
	return ends
}

// wordOf returns the index after token i if it is a word of the set, or 0.
func wordOf(set phrase.Set, t token, i int) int {
	if t.kind == kindWord && set[t.low] {
		return i + 1
	}
	return 0
}

// eachName reads the name at token i, or a list of names: a, b and c; ["a" "b"]. It stops if use returns false.
func (p *prose) eachName(e *phrase.Element, i int, use func(name string, next int) bool) {
	class, several := strings.CutSuffix(e.Class, "S")
	if !several && class != "NAME" && class != "IDENT" && (class != "QUOTED" || p.toks[i].kind != kindQuoted) {
		return
	}
	toks := p.toks
	for n := 0; several && n < 2 && i < len(toks) && toks[i].kind == kindMark && strings.Contains("[({", toks[i].text); n++ {
		i++
	}
	for n := 0; i < len(toks) && n < MaxIssues; n++ {
		name, ok := p.nameOf(toks[i], class == "IDENT", e.Strong)
		i++
		if !ok || !use(name, i) || !several {
			return
		}
		next := skipJoint(toks, i)
		if next == i && !(toks[i-1].kind == kindQuoted && i < len(toks) && toks[i].kind == kindQuoted) {
			return
		}
		i = next
	}
}

// skipJoint skips the words and marks between two names of a list.
func skipJoint(toks []token, i int) int {
	for n := 0; i < len(toks) && n < 3 && toks[i].kind != kindQuoted && tables().Joints[toks[i].low]; n++ {
		i++
	}
	return i
}

// skipToColon returns the index after the next colon of the line, or 0.
func skipToColon(toks []token, i int) int {
	for n := 0; i < len(toks) && n < 10; n++ {
		if toks[i].text == ":" || toks[i].text == "：" {
			return i + 1
		}
		if toks[i].text == "." || toks[i].text == "\n" {
			return 0
		}
		i++
	}
	return 0
}
