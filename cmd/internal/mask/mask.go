// Package mask matches successes of a tool that are failures in disguise. The gateway applies such rules to answers, and probe
// derives them from recorded answers. Both use this package, so that a rule matches the same answers.
package mask

import (
	"fmt"
	"iter"
	"regexp"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/internal/pointer"
	"github.com/candor-mcp/candor/wire"
)

// Rule is a condition on a result. All fields that are set must match; Path or Text must be set.
type Rule struct {
	Path   string // a JSON Pointer into structuredContent, or into JSON in the first text block
	Equals string // JSON text of the value at Path; "" matches any value except null, which servers use for no error
	Text   string // a regular expression for the first text block
	Except string // a regular expression for the first text block that disables the rule
}

// Test is a compiled rule. The zero Test matches nothing. It is safe for concurrent use.
type Test struct {
	path         string
	equals       wire.Value // absent: any value except null
	text, except *regexp.Regexp
}

// Compile checks the rule. The error says how to correct it.
func (r Rule) Compile() (Test, error) {
	if r.Path == "" && r.Text == "" {
		return Test{}, fmt.Errorf("a rule needs a path or a text")
	}
	if r.Path != "" && !strings.HasPrefix(r.Path, "/") {
		return Test{}, fmt.Errorf("path %q: not a JSON Pointer, which begins with a slash, as in /success", r.Path)
	}
	t := Test{path: r.Path}
	var err error
	if r.Equals != "" {
		if t.equals, err = wire.ParseValue([]byte(r.Equals), wire.Limits{}); err != nil {
			return Test{}, fmt.Errorf("equals %q: not JSON; write a string with its quotes", r.Equals)
		}
	}
	if t.text, err = expression(r.Text); err != nil {
		return Test{}, err
	}
	if t.except, err = expression(r.Except); err != nil {
		return Test{}, err
	}
	return t, nil
}

func expression(text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	return regexp.Compile(text)
}

// Holds reports whether the result of a tool is a failure according to this rule.
func (t Test) Holds(result wire.Value) bool {
	if t.path == "" && t.text == nil {
		return false
	}
	text := firstText(result)
	if t.except != nil && t.except.Match(text) || t.text != nil && !t.text.Match(text) {
		return false
	}
	if t.path == "" {
		return true
	}
	for v := range At(result, t.path) {
		if t.wants(v) {
			return true
		}
	}
	return false
}

// wants compares strings by value, and everything else by its bytes.
func (t Test) wants(v wire.Value) bool {
	if !t.equals.Present() {
		return !v.IsNull()
	}
	if want, ok := t.equals.Str(); ok {
		return v.Is(want)
	}
	return string(v.Raw()) == string(t.equals.Raw())
}

// At yields the values that a result has at a JSON Pointer: in structuredContent, then in toolResult, which held the whole result in the
// first drafts of the protocol, then in JSON in the first text block.
func At(result wire.Value, path string) iter.Seq[wire.Value] {
	return func(yield func(wire.Value) bool) {
		if v := follow(result.Path("structuredContent"), path); v.Present() && !yield(v) {
			return
		}
		if v := follow(result.Path(legacyResult), path); v.Present() && !yield(v) {
			return
		}
		inner, err := wire.ParseValue(firstText(result), wire.Limits{})
		if err != nil {
			return // plain text
		}
		if v := follow(inner, path); v.Present() {
			yield(v)
		}
	}
}

// Text returns the first text block of a result, which the expressions of a rule are matched against.
func Text(result wire.Value) string { return string(firstText(result)) }

func firstText(result wire.Value) []byte {
	text, ok := result.Path("content", 0, "text").StrBytes()
	if !ok {
		text, _ = result.Path(legacyResult, "content", 0, "text").StrBytes()
	}
	return text
}

const legacyResult = "toolResult"

func follow(v wire.Value, path string) wire.Value {
	for step := range pointer.Steps(path) {
		if i, err := strconv.Atoi(step); err == nil && v.Type() == wire.TypeArray {
			v = v.Path(i)
		} else {
			v = v.Path(step)
		}
	}
	return v
}
