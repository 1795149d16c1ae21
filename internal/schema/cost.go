package schema

import (
	"encoding/json"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The validator cannot be stopped, and nested alternatives double its work at every level. Its path is therefore walked first with a
// counter that never underestimates, and a check that would take too long is not started.

// cost counts down the steps of one check.
type cost struct {
	left   int
	depth  int  // of the value that is visited
	insane bool // a number is too large
}

// affords reports whether checking v against s stays within the steps that are left.
func (c *cost) affords(s *jsonschema.Schema, v any) bool {
	c.visit(s, v, 0)
	return c.left >= 0
}

// visit charges for s on v. above is the number of schemas already applied to v, which the validator searches for cycles.
func (c *cost) visit(s *jsonschema.Schema, v any, above int) {
	if c.left--; c.left < 0 || s.Bool != nil {
		return
	}
	c.left -= above/16 + c.depth/8 // an error holds its whole path
	c.compare(s, v)
	switch v := v.(type) {
	case map[string]any:
		c.depth++
		c.object(s, v)
		c.depth--
	case []any:
		c.depth++
		c.array(s, v)
		c.depth--
	case string:
		c.left -= len(v) / 64 // it is copied
		if s.Pattern != nil {
			c.match(s.Pattern, v)
		}
	case json.Number:
		c.insane = c.insane || !isSane(v)
	}
	for _, sub := range inPlace(s) {
		if c.left < 0 {
			return
		}
		c.visit(sub, v, above+1)
	}
}

// compare charges for enum, const and uniqueItems, which look into the whole value.
func (c *cost) compare(s *jsonschema.Schema, v any) {
	times := 0
	if s.Enum != nil {
		times += len(s.Enum.Values)
	}
	if s.Const != nil {
		times++
	}
	list, _ := v.([]any)
	if s.UniqueItems && len(list) > 1 {
		times += 20 // short lists are compared pair by pair
	}
	if times == 0 {
		return
	}
	all := tallyOf(v)
	c.insane = c.insane || all.insane
	c.left -= times * min(all.size, c.left/times+1)
	if s.UniqueItems && all.size > 1+2*len(list) {
		c.left -= len(list) * (len(list) / 8) // lists inside a list can be made to share a hash
	}
}

// match charges for a regular expression. A step of its program is cheap compared to one of the validator.
func (c *cost) match(re jsonschema.Regexp, text string) {
	if p, ok := re.(*pattern); ok {
		c.left -= 1 + len(text)*p.steps/64
	}
}

func (c *cost) object(s *jsonschema.Schema, v map[string]any) {
	for name, member := range v {
		if c.left--; c.left < 0 {
			return
		}
		if sub := s.Properties[name]; sub != nil {
			c.visit(sub, member, 0)
		}
		for re, sub := range s.PatternProperties {
			c.match(re, name)
			c.visit(sub, member, 0)
		}
		for _, sub := range appendSchema(nil, s.AdditionalProperties) {
			c.visit(sub, member, 0)
		}
		if s.UnevaluatedProperties != nil {
			c.visit(s.UnevaluatedProperties, member, 0)
		}
		for _, ext := range s.Extensions {
			if rule, ok := ext.(nameRule); ok {
				c.left -= 6 // a separate check
				c.visit(rule.names, name, 0)
			}
		}
	}
}

func (c *cost) array(s *jsonschema.Schema, v []any) {
	each := appendSchema(nil, s.AdditionalItems)
	for _, sub := range []*jsonschema.Schema{s.Items2020, s.Contains, s.UnevaluatedItems} {
		if sub != nil {
			each = append(each, sub)
		}
	}
	first := s.PrefixItems
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		each = append(each, items)
	case []*jsonschema.Schema:
		first = items
	}
	for i, item := range v {
		if c.left--; c.left < 0 {
			return
		}
		if i < len(first) {
			c.visit(first[i], item, 0)
		}
		for _, sub := range each {
			c.visit(sub, item, 0)
		}
	}
}

// tally counts the values inside a value, names and texts by their length too.
type tally struct {
	size   int
	parts  int  // objects and booleans, which may be schemas
	insane bool // a number is too large
}

func tallyOf(v any) (t tally) {
	t.add(v)
	return t
}

func (t *tally) add(v any) {
	t.size++
	switch v := v.(type) {
	case map[string]any:
		t.parts++
		for name, member := range v {
			t.size += len(name) / 16
			t.add(member)
		}
	case []any:
		for _, item := range v {
			t.add(item)
		}
	case bool:
		t.parts++
	case string:
		t.size += len(v) / 64
	case json.Number:
		t.insane = t.insane || !isSane(v)
	}
}
