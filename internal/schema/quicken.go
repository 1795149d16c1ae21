package schema

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/candor-mcp/candor/wire"
)

// quickener builds quick checks and remembers them, because schemas may be recursive.
type quickener map[*jsonschema.Schema]*node

// node makes the quick check of one schema.
func (q quickener) node(s *jsonschema.Schema) *node {
	if n := q[s]; n != nil {
		return n
	}
	if s.Ref != nil && only(s, func(c *jsonschema.Schema) { c.Ref = nil }) {
		n := q.node(s.Ref) // terminates: prepare rejects circular references
		q[s] = n           // otherwise a chain of references takes quadratic time
		return n
	}
	n := &node{longest: -1, mostItems: -1}
	q[s] = n
	if s.Bool != nil {
		n.any, n.unsure = *s.Bool, !*s.Bool
		return n
	}
	if len(s.AnyOf)+len(s.OneOf) > 0 {
		q.alternatives(n, s)
		return n
	}
	if !only(s, withoutKnown) {
		n.unsure = true
	}
	n.types = typesOf(s)
	n.list(s)
	n.least, n.most = n.bound(s.Minimum, s.ExclusiveMinimum), n.bound(negated(s.Maximum), negated(s.ExclusiveMaximum))
	setInt(&n.shortest, s.MinLength)
	setInt(&n.longest, s.MaxLength)
	setInt(&n.fewest, s.MinItems)
	setInt(&n.mostItems, s.MaxItems)
	q.members(n, s)
	q.items(n, s)
	return n
}

// only reports whether a schema asserts nothing except the keywords that without removes.
func only(s *jsonschema.Schema, without func(*jsonschema.Schema)) bool {
	c := *s
	without(&c)
	return c.Ref == nil && c.RecursiveRef == nil && c.DynamicRef == nil && c.Types == nil && c.Enum == nil && c.Const == nil &&
		len(inPlace(&c)) == 0 && len(inside(&c)) == 0 && len(c.Extensions) == 0 && c.Format == nil && c.Bool == nil &&
		c.MaxProperties == nil && c.MinProperties == nil && len(c.Required) == 0 && c.AdditionalProperties == nil &&
		len(c.Dependencies) == 0 && len(c.DependentRequired) == 0 && c.MinItems == nil && c.MaxItems == nil && !c.UniqueItems &&
		c.MinContains == nil && c.MaxContains == nil && c.AdditionalItems == nil && c.MinLength == nil && c.MaxLength == nil &&
		c.Pattern == nil && c.ContentEncoding == nil && c.ContentMediaType == nil && c.Maximum == nil && c.Minimum == nil &&
		c.ExclusiveMaximum == nil && c.ExclusiveMinimum == nil && c.MultipleOf == nil
}

// withoutKnown removes the keywords that a node can check.
func withoutKnown(c *jsonschema.Schema) {
	c.Types, c.Enum, c.Const, c.Required, c.Properties, c.AdditionalProperties = nil, nil, nil, nil, nil, nil
	c.MinItems, c.MaxItems, c.Items2020, c.MinLength, c.MaxLength = nil, nil, nil, nil, nil
	c.Minimum, c.Maximum, c.ExclusiveMinimum, c.ExclusiveMaximum = nil, nil, nil, nil
	if _, one := c.Items.(*jsonschema.Schema); one {
		c.Items = nil
	}
}

func (q quickener) alternatives(n *node, s *jsonschema.Schema) {
	n.unsure = !only(s, func(c *jsonschema.Schema) { c.AnyOf, c.OneOf = nil, nil }) || len(s.AnyOf) > 0 && len(s.OneOf) > 0
	n.exclusive = len(s.OneOf) > 0
	for _, list := range [][]*jsonschema.Schema{s.AnyOf, s.OneOf} {
		for _, sub := range list {
			n.either = append(n.either, q.node(sub))
		}
	}
}

func (q quickener) members(n *node, s *jsonschema.Schema) {
	if sub, ok := s.AdditionalProperties.(*jsonschema.Schema); ok {
		n.rest = q.node(sub)
	} else if s.AdditionalProperties == false {
		n.rest = &node{unsure: true}
	}
	rows := map[string]*member{}
	for name, sub := range s.Properties {
		rows[name] = &member{name: name, node: q.node(sub)}
	}
	for _, name := range s.Required {
		if rows[name] == nil {
			rows[name] = &member{name: name, node: n.rest}
		}
		if !rows[name].required {
			rows[name].required = true
			n.required++
		}
	}
	const few = 8
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		n.members.few = append(n.members.few, *rows[name])
		n.unsure = n.unsure || strings.Contains(name, `\`)
	}
	if len(rows) > few {
		n.members.many = rows
	}
}

func (q quickener) items(n *node, s *jsonschema.Schema) {
	if sub, ok := s.Items.(*jsonschema.Schema); ok {
		n.items = q.node(sub)
	}
	if s.Items2020 != nil {
		n.items = q.node(s.Items2020)
	}
}

// list records the values of enum or const, except arrays and objects, which the quick check does not accept.
func (n *node) list(s *jsonschema.Schema) {
	var values []any
	switch {
	case s.Enum == nil && s.Const == nil:
		return
	case s.Enum != nil && s.Const != nil:
		n.unsure = true
	case s.Enum != nil:
		values = s.Enum.Values
	default:
		values = []any{*s.Const}
	}
	n.listed = &listed{texts: map[string]struct{}{}, numbers: map[int64]struct{}{}}
	for _, v := range values {
		switch v := v.(type) {
		case string:
			if !strings.Contains(v, `\`) {
				n.listed.texts[v] = struct{}{}
			}
		case json.Number:
			if i, err := v.Int64(); err == nil {
				n.listed.numbers[i] = struct{}{}
			}
		case nil:
			n.listed.other[0] = true
		case bool:
			n.listed.other[1] = n.listed.other[1] || !v
			n.listed.other[2] = n.listed.other[2] || v
		}
	}
}

var typeNames = map[string]types{
	"null": typeBit(wire.TypeNull), "boolean": typeBit(wire.TypeBool), "number": typeBit(wire.TypeNumber), "integer": integers,
	"string": typeBit(wire.TypeString), "array": typeBit(wire.TypeArray), "object": typeBit(wire.TypeObject),
}

func typesOf(s *jsonschema.Schema) types {
	var t types
	if s.Types != nil {
		for _, name := range s.Types.ToStrings() {
			t |= typeNames[name]
		}
	}
	return t
}

// bound returns the lower bound of two, an inclusive and an exclusive one. The node is unsure if both are set.
func (n *node) bound(least, above *big.Rat) bound {
	n.unsure = n.unsure || least != nil && above != nil
	for _, r := range []*big.Rat{least, above} {
		if r != nil {
			at, exact := r.Float64()
			return bound{set: true, exact: exact, exclusive: r == above, at: at}
		}
	}
	return bound{}
}

func negated(r *big.Rat) *big.Rat {
	if r == nil {
		return nil
	}
	return new(big.Rat).Neg(r)
}

func setInt(to, from *int) {
	if from != nil {
		*to = *from
	}
}
