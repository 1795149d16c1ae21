package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// The bounds of what one pattern may cost. RE2 takes time that grows with the line times the expression, and nothing interrupts it
// within a line: so neither may be any size.
const (
	maxSteps = 2_000    // places of an expression, its repetitions written out
	maxWork  = 32 << 20 // places times bytes of one line; about a second
)

// pattern is what is searched for in lines.
type pattern struct {
	literal []byte // nil for an expression
	re      *regexp.Regexp
	ahead   bool // the expression asks what follows, as $ and \b do
	reach   int  // how much of a line is looked at
}

// newPattern reads the pattern of a query. The error is INVALID_INPUT_VALUE with the place.
func newPattern(q Query) (pattern, error) {
	switch {
	case q.Pattern == "":
		return pattern{}, badQuery("pattern", "The pattern is empty.", "")
	case len(q.Pattern) > maxPattern || !utf8.ValidString(q.Pattern):
		return pattern{}, badQuery("pattern", fmt.Sprintf("The pattern must be UTF-8 of at most %d bytes.", maxPattern), "")
	case q.Literal:
		return pattern{literal: []byte(q.Pattern), reach: maxWork}, nil
	}
	parsed, err := syntax.Parse(q.Pattern, syntax.Perl)
	if wrong := (*syntax.Error)(nil); errors.As(err, &wrong) {
		return pattern{}, badQuery("pattern", "The pattern is not a valid expression: "+wrong.Code.String()+".", wrong.Expr)
	}
	if err != nil {
		return pattern{}, err
	}
	size := steps(parsed)
	if size > maxSteps {
		return pattern{}, badQuery("pattern", "The pattern is too costly: it repeats too much, or has too many alternatives.", "")
	}
	re, err := regexp.Compile(q.Pattern)
	if err != nil {
		return pattern{}, err
	}
	if parsed.Op == syntax.OpLiteral && parsed.Flags&syntax.FoldCase == 0 { // no expression after all
		return pattern{literal: []byte(string(parsed.Rune)), reach: maxWork}, nil
	}
	return pattern{re: re, ahead: looksAhead(parsed), reach: maxWork / size}, nil
}

// match reports whether a line, as far as it is looked at, has the pattern in it; cut says that there was more of it. What could be a match
// only because the line was cut is none.
func (p pattern) match(line []byte) (found, cut bool) {
	if cut = len(line) > p.reach; cut {
		line = line[:p.reach]
	}
	if p.literal != nil {
		return bytes.Contains(line, p.literal), cut
	}
	if !cut || !p.ahead {
		return p.re.Match(line), cut
	}
	at := p.re.FindIndex(line)
	return at != nil && at[1] < len(line), cut // what follows the cut is unknown
}

// looksAhead reports an expression that may match otherwise if more follows.
func looksAhead(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpEndLine, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	default:
		return slices.ContainsFunc(re.Sub, looksAhead)
	}
}

// steps is the size of an expression with its repetitions written out. It stops counting where it is too large anyway.
func steps(re *syntax.Regexp) int {
	size := 0
	switch {
	case re.Op == syntax.OpLiteral:
		size = len(re.Rune)
	case len(re.Sub) == 0:
		size = 1 + len(re.Rune)/64 // a class of many ranges is large in memory
	}
	for _, sub := range re.Sub {
		if size += steps(sub); size > maxSteps {
			return maxSteps + 1
		}
	}
	if re.Op == syntax.OpRepeat {
		size *= max(re.Min, re.Max, 1)
	}
	return max(size, 1)
}
