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

// Limits of the cost of one pattern. The time of RE2 grows with the product of line and expression length, and it cannot
// be interrupted within a line, so both are limited.
const (
	maxSteps = 2_000    // size of an expression with repetitions expanded
	maxWork  = 32 << 20 // expression size times bytes of one line; about a second
)

// pattern is a compiled search pattern.
type pattern struct {
	literal []byte // nil for an expression
	re      *regexp.Regexp
	ahead   bool // the expression depends on the following text, as $ and \b do
	reach   int  // number of bytes of a line that are searched
}

// newPattern compiles the pattern of a query. The error is INVALID_INPUT_VALUE with the position.
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
	if parsed.Op == syntax.OpLiteral && parsed.Flags&syntax.FoldCase == 0 { // the expression is a plain text
		return pattern{literal: []byte(string(parsed.Rune)), reach: maxWork}, nil
	}
	return pattern{re: re, ahead: looksAhead(parsed), reach: maxWork / size}, nil
}

// match reports whether the searched part of a line matches; cut is true if the line is longer. A match that may exist
// only because the line was cut does not count.
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
	return at != nil && at[1] < len(line), cut // the text after the cut is unknown
}

// looksAhead reports whether the match of an expression may depend on the following text.
func looksAhead(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpEndLine, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	default:
		return slices.ContainsFunc(re.Sub, looksAhead)
	}
}

// steps returns the size of an expression with its repetitions expanded. It stops counting when the limit is exceeded.
func steps(re *syntax.Regexp) int {
	size := 0
	switch {
	case re.Op == syntax.OpLiteral:
		size = len(re.Rune)
	case len(re.Sub) == 0:
		size = 1 + len(re.Rune)/64 // a class with many ranges needs much memory
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
