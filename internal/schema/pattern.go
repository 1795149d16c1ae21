package schema

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxPatterns bounds the patterns of one schema, in steps of the programs they become. A few letters can make a large program.
const maxPatterns = 200_000

// pattern is a regular expression that knows what it costs: matching takes time in the length of the text and of the program.
type pattern struct {
	*regexp.Regexp

	steps int
}

// unreadable is a pattern that Go cannot read. It matches everything until [prepare] has decided what to do with it.
type unreadable string

// MatchString is true.
func (unreadable) MatchString(string) bool { return true }

// String returns the pattern as it was written.
func (p unreadable) String() string { return string(p) }

// patternReader reads the patterns of one schema, while that is compiled and not after.
type patternReader struct{ left int }

func (r *patternReader) read(text string) (jsonschema.Regexp, error) {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return unreadable(text), nil //nolint:nilerr // shown by its type
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return unreadable(text), nil //nolint:nilerr // as above
	}
	if r.left -= len(program.Inst); r.left < 0 {
		return nil, errors.New("the patterns are too large")
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return unreadable(text), nil //nolint:nilerr // as above
	}
	return &pattern{Regexp: re, steps: len(program.Inst)}, nil
}

// matching writes a short text that a regular expression matches, as far as that can be read off it; what it cannot is found
// out when the text is checked. Parts that may repeat do so until the whole has least characters.
func matching(b *strings.Builder, re *syntax.Regexp, least int) bool {
	if b.Len() > maxMadeText {
		return false
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		c, ok := readable(re.Rune)
		b.WriteRune(c)
		return ok
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('x')
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			if !matching(b, sub, least) {
				return false
			}
		}
	case syntax.OpAlternate:
		return matching(b, re.Sub[0], least)
	case syntax.OpStar:
		return repeat(b, re, 0, -1, least)
	case syntax.OpPlus:
		return repeat(b, re, 1, -1, least)
	case syntax.OpQuest:
		return repeat(b, re, 0, 1, least)
	case syntax.OpRepeat:
		return repeat(b, re, re.Min, re.Max, least)
	case syntax.OpNoMatch:
		return false
	default: // borders, which are checked afterwards
	}
	return true
}

// repeat writes a part as often as it must, and up to most times while the text is too short. most < 0 means no bound.
func repeat(b *strings.Builder, re *syntax.Regexp, must, most, least int) bool {
	for i := 0; i < must || (most < 0 || i < most) && b.Len() < least; i++ {
		before := b.Len()
		if !matching(b, re.Sub[0], 0) {
			return false
		}
		if b.Len() == before {
			break // it matches nothing, however often
		}
	}
	return true
}

// readable picks a character of a class, given as pairs of ends: a letter if there is one.
func readable(pairs []rune) (rune, bool) {
	for _, like := range []string{"a", "A", "1", "-"} {
		c := []rune(like)[0]
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] <= c && c <= pairs[i+1] {
				return c, true
			}
		}
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if first := max(pairs[i], '!'); first <= pairs[i+1] {
			return first, true
		}
	}
	if len(pairs) == 0 {
		return 0, false
	}
	return pairs[0], true
}
