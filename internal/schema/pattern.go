package schema

import (
	"errors"
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxPatterns bounds the patterns of one schema, in steps of the programs they become. A few letters can make a large program.
const maxPatterns = 200_000

// pattern is a regular expression with the size of its program. Matching takes time in proportion to the text times the program.
type pattern struct {
	*regexp.Regexp

	steps int
}

// unreadable is a pattern that Go cannot parse. It matches everything until [prepare] removes it or rejects the schema.
type unreadable string

// MatchString is true.
func (unreadable) MatchString(string) bool { return true }

// String returns the pattern as it was written.
func (p unreadable) String() string { return string(p) }

// patternReader parses the patterns of one schema during its compilation.
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
