package foreign

import (
	"strings"
	"unicode/utf8"
)

// A phrase is a pattern over tokens that says which words of a sentence name arguments. Patterns are data:
//
//	word        that word in any case;  a|b one of them;  word? may be absent
//	KIND        parameter, argument, field and their like; KINDS? may be absent
//	NAME        an argument's name, quoted or bare;  NAMES several, joined by commas and words
//	IDENT       a name that does not look like prose: quoted, known, camelCase or snake_case;  IDENTS several
//	QUOTED      a name in quotes
//	PARAM       parameter, argument: words that are not used for a column or a file
//	ANY         any one token;  *: skips to a colon in the same line
//	^  $        the beginning and the end of a sentence
//	缺少         script without spaces matches inside a token
//
// A trailing ! on NAME or NAMES admits words such as "value" or "key" that are mostly prose elsewhere.
type phrase struct {
	items []item
	rule  string
}

type item struct {
	op       op
	words    []string
	inside   []string // the words that match inside a token
	optional bool
	strong   bool
}

type op uint8

const (
	opWord op = iota
	opKind
	opName
	opNames
	opIdent
	opIdents
	opQuoted
	opParam
	opAny
	opColon
	opHead
	opEnd
)

var ops = map[string]op{
	"KIND": opKind, "NAME": opName, "NAMES": opNames, "IDENT": opIdent, "IDENTS": opIdents, "QUOTED": opQuoted, "PARAM": opParam,
	"ANY": opAny, "*:": opColon, "^": opHead, "$": opEnd,
}

// phrasesOf compiles lines of the form "rule: pattern".
func phrasesOf(lines ...string) []phrase {
	out := make([]phrase, 0, len(lines))
	for _, line := range lines {
		rule, pattern, _ := strings.Cut(line, ": ")
		out = append(out, phrase{items: itemsOf(pattern), rule: rule})
	}
	return out
}

func itemsOf(pattern string) []item {
	var out []item
	for _, field := range strings.Fields(pattern) {
		it := item{}
		field, it.optional = strings.CutSuffix(field, "?")
		if bare, strong := strings.CutSuffix(field, "!"); strong {
			field, it.strong = bare, true
		}
		code, special := ops[field]
		if it.op = code; !special {
			it.words = strings.Split(field, "|")
			for _, w := range it.words {
				if startsSpaceless(w) {
					it.inside = append(it.inside, w)
				}
			}
		}
		out = append(out, it)
	}
	return out
}

// match tries a phrase at token i and returns the names that it found.
func (r *reader) match(items []item, toks []token, i int) (names []string, ok bool) {
	if len(items) == 0 {
		return nil, true
	}
	it, rest := items[0], items[1:]
	for _, step := range r.steps(it, toks, i) {
		if more, ok := r.match(rest, toks, step.next); ok {
			return append(step.names, more...), true
		}
	}
	if it.optional {
		return r.match(rest, toks, i)
	}
	return nil, false
}

// step is one way to satisfy an item.
type step struct {
	names []string
	next  int
}

func (r *reader) steps(it item, toks []token, i int) []step {
	if i >= len(toks) {
		if it.op == opEnd {
			return []step{{next: i}}
		}
		return nil
	}
	if it.op == opHead && toks[i].head || it.op == opEnd && (toks[i].head || toks[i].kind == kindMark) {
		return []step{{next: i}}
	}
	switch it.op {
	case opQuoted:
		if toks[i].kind != kindQuoted {
			return nil
		}
		return r.oneName(it, toks, i)
	case opName, opIdent:
		return r.oneName(it, toks, i)
	case opNames, opIdents:
		return r.manyNames(it, toks, i)
	case opColon:
		return skipToColon(toks, i)
	case opHead, opEnd:
		return nil
	default:
		if it.admits(toks[i]) {
			return []step{{next: i + 1}}
		}
		return nil
	}
}

func (it item) admits(t token) bool {
	switch it.op {
	case opAny:
		return true
	case opKind:
		return t.kind == kindWord && tables().Kinds[t.low]
	case opParam:
		return t.kind == kindWord && tables().Params[t.low]
	default:
		return t.kind != kindQuoted && it.hasWord(t.low)
	}
}

func (it item) hasWord(low string) bool {
	for _, w := range it.words {
		if w == low {
			return true
		}
	}
	for _, w := range it.inside {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}

// startsSpaceless reports whether w begins in a script without spaces.
func startsSpaceless(w string) bool {
	c, _ := utf8.DecodeRuneInString(w)
	return isSpaceless(c)
}

func (r *reader) oneName(it item, toks []token, i int) []step {
	name, ok := r.nameOf(toks[i], it.op == opIdent, it.strong)
	if !ok {
		return nil
	}
	return []step{{names: []string{name}, next: i + 1}}
}

// manyNames reads a list: a, b and c; ["a" "b"]. Longer lists are tried first.
func (r *reader) manyNames(it item, toks []token, i int) []step {
	var out []step
	var names []string
	for n := 0; n < 2 && i < len(toks) && toks[i].kind == kindMark && strings.Contains("[({", toks[i].text); n++ {
		i++
	}
	for i < len(toks) && len(names) < MaxIssues {
		name, ok := r.nameOf(toks[i], it.op == opIdents, it.strong)
		if !ok {
			break
		}
		names = append(names, name)
		i++
		out = append([]step{{names: append([]string(nil), names...), next: i}}, out...)
		next := skipJoint(toks, i)
		if next == i && !(toks[i-1].kind == kindQuoted && i < len(toks) && toks[i].kind == kindQuoted) {
			break
		}
		i = next
	}
	return out
}

// skipJoint skips the words and marks between two names of a list.
func skipJoint(toks []token, i int) int {
	for n := 0; i < len(toks) && n < 3 && toks[i].kind != kindQuoted && tables().Joints[toks[i].low]; n++ {
		i++
	}
	return i
}

func skipToColon(toks []token, i int) []step {
	for n := 0; i < len(toks) && n < 10; n++ {
		if toks[i].text == ":" || toks[i].text == "：" {
			return []step{{next: i + 1}}
		}
		if toks[i].text == "." || toks[i].text == "\n" {
			return nil
		}
		i++
	}
	return nil
}
