package workflow

import (
	"slices"

	"github.com/candor-mcp/candor/cmd/internal/jsonvalue"
	"github.com/candor-mcp/candor/internal/near"
)

// condition reads a condition.
func (r *reader) condition(n *node, what string) *Condition {
	c := &conditionReader{reader: r, what: what}
	return c.read(n, 1)
}

// conditionReader reads one condition with all its parts.
type conditionReader struct {
	*reader
	what  string
	parts int
}

func (r *conditionReader) read(n *node, depth int) *Condition {
	c := &Condition{}
	r.parts++
	switch {
	case depth > MaxConditionDepth:
		r.fail(n.at, "use fewer levels", "%s: more than %d conditions inside each other", r.what, MaxConditionDepth)
		return c
	case r.parts > MaxConditionParts:
		if r.parts == MaxConditionParts+1 {
			r.fail(n.at, "use in: to compare with many values", "%s: more than %d parts", r.what, MaxConditionParts)
		}
		return c
	}
	if r.mapping(n, r.what, r.fields(c, depth)) {
		r.operator(n, c)
	}
	return c
}

func (r *conditionReader) fields(c *Condition, depth int) []field {
	fields := []field{{"key", "", r.key(&c.Key, r.what+": key")}}
	for _, op := range comparisons {
		fields = append(fields, field{string(op), "", func(n *node) { r.operand(c, op, n) }})
	}
	of := func(n *node) {
		r.list(n, r.what, 1, MaxConditionParts, func(n *node) { c.Of = append(c.Of, *r.read(n, depth+1)) })
	}
	return append(fields,
		field{string(OpAll), "", of},
		field{string(OpAny), "", of},
		field{string(OpNot), "", func(n *node) { c.Of = append(c.Of, *r.read(n, depth+1)) }},
	)
}

// operator finds the one operator that a condition must have.
func (r *conditionReader) operator(n *node, c *Condition) {
	for _, op := range Operators() {
		if n.get(string(op)) == nil {
			continue
		}
		if c.Op != "" {
			r.fail(n.at, "write two conditions below all: or any:", "%s: condition has both %s and %s", r.what, c.Op, op)
			return
		}
		c.Op = op
	}
	key := n.get("key")
	switch combines := slices.Contains(combinations, c.Op); {
	case c.Op == "":
		r.fail(n.at, "add one of "+near.Quote(operatorNames(comparisons)), "%s: condition compares nothing", r.what)
	case combines && key != nil:
		r.fail(key.at, "move it into a separate condition", "%s: %s cannot have a key", r.what, c.Op)
	case !combines && key == nil:
		r.fail(n.at, "add key: the context key to compare", "%s: condition has no key", r.what)
	}
}

func operatorNames(ops []Operator) []string {
	names := make([]string, 0, len(ops))
	for _, op := range ops {
		names = append(names, string(op))
	}
	return names
}

// operand reads the value that a key is compared with.
func (r *conditionReader) operand(c *Condition, op Operator, n *node) {
	what := r.what + ": " + string(op)
	c.Value = n.value()
	switch op {
	case OpGreaterThan, OpAtLeast, OpLessThan, OpAtMost:
		r.want(n, kindNumber, what, "give a number")
	case OpExists:
		r.want(n, kindBool, what, "give true or false")
	case OpIn:
		r.list(n, what, 1, maxListItems, func(n *node) { r.notNull(n, what) })
	case OpMatches:
		if !r.want(n, kindString, what, "give a regular expression") {
			return
		}
		var err error
		if c.pattern, err = compilePattern(n.text); err != nil {
			r.fail(n.at, "see the syntax of Go's regexp package", "%s: %s", what, firstLine(err.Error()))
		}
	default:
		r.notNull(n, what)
	}
}

// notNull reports an operand that is missing. A YAML key without a value is null.
func (r *conditionReader) notNull(n *node, what string) {
	if n.kind == kindNull {
		r.fail(n.at, "use exists: false to find out whether a key is not set", "%s: condition compares nothing", what)
		return
	}
	if _, err := jsonvalue.Append(nil, n.value()); err != nil {
		r.fail(n.at, "use a smaller value", "%s: %s", what, err)
	}
}
