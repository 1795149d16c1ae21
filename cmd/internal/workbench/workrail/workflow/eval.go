package workflow

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/jsonvalue"
)

// MaxMatchBytes is the length of the longest text that matches examines.
const MaxMatchBytes = 64 << 10

// EvalError is the error for an invalid comparison, such as of a number with a list.
type EvalError struct {
	Key  string
	Op   Operator
	Want string // the required type, such as "a number"
	Got  string // its JSON type, or the problem with it
}

// Error returns a sentence that does not repeat the value.
func (e *EvalError) Error() string {
	return fmt.Sprintf("context key %q: %s needs %s, got %s", e.Key, e.Op, e.Want, e.Got)
}

// Eval reports whether the condition holds. lookup returns the value of a key; numbers are compared as
// [jsonvalue.Compare] does. cost grows with the work done and is at least 1, so that a caller that evaluates many
// conditions can limit their sum.
//
// The error is an [*EvalError]. Evaluation stops when the result is known: all stops at the first condition that does
// not hold, any at the first that does.
func (c *Condition) Eval(lookup func(key string) (any, bool)) (holds bool, cost int, err error) {
	e := evaluation{lookup: lookup}
	holds, err = e.eval(c, 0)
	return holds, e.cost, err
}

type evaluation struct {
	lookup func(string) (any, bool)
	cost   int
}

func (e *evaluation) eval(c *Condition, depth int) (bool, error) {
	e.cost++
	if depth > MaxConditionDepth {
		return false, &EvalError{Key: c.Key, Op: c.Op, Want: fmt.Sprintf("at most %d levels", MaxConditionDepth), Got: "more"}
	}
	switch c.Op {
	case OpAll, OpAny:
		return e.combine(c, depth)
	case OpNot:
		if len(c.Of) != 1 {
			return false, &EvalError{Op: c.Op, Want: "one condition", Got: fmt.Sprint(len(c.Of))}
		}
		holds, err := e.eval(&c.Of[0], depth+1)
		return !holds && err == nil, err
	default:
		return e.compare(c)
	}
}

func (e *evaluation) combine(c *Condition, depth int) (bool, error) {
	decisive := c.Op == OpAny
	for i := range c.Of {
		if holds, err := e.eval(&c.Of[i], depth+1); err != nil || holds == decisive {
			return holds && err == nil, err
		}
	}
	return !decisive, nil
}

func (e *evaluation) compare(c *Condition) (bool, error) {
	v, _ := e.lookup(c.Key)
	if c.Op == OpExists {
		return (v != nil) == (c.Value == true), nil
	}
	if v == nil {
		return c.Op == OpNotEquals, nil
	}
	switch c.Op {
	case OpEquals, OpNotEquals:
		return e.equal(v, c.Value) == (c.Op == OpEquals), nil
	case OpIn:
		list, _ := c.Value.([]any)
		return slices.ContainsFunc(list, func(item any) bool { return e.equal(v, item) }), nil
	case OpGreaterThan, OpAtLeast, OpLessThan, OpAtMost:
		return order(c, v)
	case OpContains:
		return e.holds(c, v)
	case OpMatches:
		return e.matches(c, v)
	default:
		return false, &EvalError{Key: c.Key, Op: c.Op, Want: "a known operator", Got: "another"}
	}
}

func order(c *Condition, v any) (bool, error) {
	n, ok := jsonvalue.Compare(v, c.Value)
	if !ok {
		return false, mismatch(c, v, "a number")
	}
	switch c.Op {
	case OpGreaterThan:
		return n > 0, nil
	case OpAtLeast:
		return n >= 0, nil
	case OpLessThan:
		return n < 0, nil
	default:
		return n <= 0, nil
	}
}

// equal compares a value with an operand. The work is at most that of reading the whole operand.
func (e *evaluation) equal(v, operand any) bool {
	e.cost += weight(operand)
	return jsonvalue.Equal(v, operand)
}

// weight estimates the work of comparing a value.
func weight(v any) int {
	n := 1
	switch v := v.(type) {
	case string:
		n += len(v) / 64
	case []any:
		for _, item := range v {
			n += weight(item)
		}
	case map[string]any:
		for _, item := range v {
			n += weight(item)
		}
	}
	return n
}

func (e *evaluation) holds(c *Condition, v any) (bool, error) {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return e.equal(item, c.Value) }), nil
	case string:
		part, ok := c.Value.(string)
		if !ok {
			return false, mismatch(c, v, "a list")
		}
		e.cost += len(v) / 64
		return strings.Contains(v, part), nil
	default:
		return false, mismatch(c, v, "a string or a list")
	}
}

func (e *evaluation) matches(c *Condition, v any) (bool, error) {
	text, ok := v.(string)
	if !ok {
		return false, mismatch(c, v, "a string")
	}
	if len(text) > MaxMatchBytes {
		return false, &EvalError{Key: c.Key, Op: c.Op, Want: fmt.Sprintf("at most %d bytes", MaxMatchBytes), Got: fmt.Sprint(len(text))}
	}
	e.cost += len(text) // a pattern may take long for each byte
	pattern := c.pattern
	if pattern == nil { // not read from a file
		var err error
		if pattern, err = compilePattern(c.Value); err != nil {
			return false, &EvalError{Key: c.Key, Op: c.Op, Want: "a regular expression", Got: err.Error()}
		}
	}
	return pattern.MatchString(text), nil
}

func compilePattern(v any) (*regexp.Regexp, error) {
	text, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("a pattern of type %s", jsonvalue.TypeName(v))
	}
	if len(text) > MaxPatternBytes {
		return nil, fmt.Errorf("a pattern of %d bytes, limit %d", len(text), MaxPatternBytes)
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err
	}
	if len(program.Inst) > maxPatternSteps {
		return nil, fmt.Errorf("a pattern that takes %d steps, limit %d; use smaller repetitions", len(program.Inst), maxPatternSteps)
	}
	return regexp.Compile(text)
}

func mismatch(c *Condition, v any, want string) error {
	return &EvalError{Key: c.Key, Op: c.Op, Want: want, Got: article(jsonvalue.TypeName(v))}
}

func article(typeName string) string {
	switch typeName {
	case "null":
		return typeName
	case "array", "object":
		return "an " + typeName
	default:
		return "a " + typeName
	}
}
