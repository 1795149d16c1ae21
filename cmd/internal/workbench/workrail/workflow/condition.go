package workflow

import (
	"encoding/json"
	"regexp"
	"slices"
)

// Condition is a comparison of one context key, or a combination of conditions.
type Condition struct {
	Op    Operator
	Key   string      // of a comparison
	Value any         // of a comparison: the JSON value to compare with
	Of    []Condition // of a combination; not has one

	pattern *regexp.Regexp // of a matches that was read from a file
}

// Operator is how a [Condition] compares or combines.
type Operator string

// The operators. A key that is missing or null counts as not set: exists is false, notEquals is true, and every other
// comparison is false. Values of different types are not equal.
const (
	OpEquals      Operator = "equals"
	OpNotEquals   Operator = "notEquals"
	OpIn          Operator = "in"          // equals one of a list
	OpGreaterThan Operator = "greaterThan" // numbers only, as the three below
	OpAtLeast     Operator = "atLeast"
	OpLessThan    Operator = "lessThan"
	OpAtMost      Operator = "atMost"
	OpContains    Operator = "contains" // a string contains a string, or a list an item
	OpMatches     Operator = "matches"  // a string matches a regular expression of package regexp
	OpExists      Operator = "exists"   // true or false

	OpAll Operator = "all"
	OpAny Operator = "any"
	OpNot Operator = "not"
)

// comparisons and combinations are the two sorts of operators, in the order in which they are listed to people.
var (
	comparisons = []Operator{
		OpEquals, OpNotEquals, OpIn, OpGreaterThan, OpAtLeast, OpLessThan, OpAtMost, OpContains, OpMatches, OpExists,
	}
	combinations = []Operator{OpAll, OpAny, OpNot}
)

// Operators returns all operators, the comparisons first.
func Operators() []Operator { return slices.Concat(comparisons, combinations) }

// MarshalJSON returns the condition as a file has it, with the operator as a key.
func (c Condition) MarshalJSON() ([]byte, error) {
	switch c.Op {
	case OpAll, OpAny:
		return json.Marshal(map[Operator][]Condition{c.Op: c.Of})
	case OpNot:
		if len(c.Of) != 1 {
			return json.Marshal(map[Operator][]Condition{c.Op: c.Of}) // not parseable, but nothing is lost
		}
		return json.Marshal(map[Operator]Condition{c.Op: c.Of[0]})
	default:
		return json.Marshal(map[string]any{"key": c.Key, string(c.Op): c.Value})
	}
}
