package schema

import (
	"errors"
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// prepare walks all parts of a compiled schema and rejects those that cannot be checked in bounded time. It modifies the schema:
// patterns that cannot be checked are removed, and names are checked by [nameRule]. It returns the parts by location.
func prepare(root *jsonschema.Schema) (map[string]*jsonschema.Schema, error) {
	parts := map[string]*jsonschema.Schema{}
	var unchecked []*jsonschema.Schema
	for _, s := range reachable(root) {
		parts[s.Location] = s
		if s.DynamicRef != nil || s.RecursiveRef != nil {
			return nil, errors.New("$dynamicRef and $recursiveRef are not supported")
		}
		for re := range s.PatternProperties {
			if _, bad := re.(unreadable); bad {
				return nil, errors.New("a pattern in patternProperties cannot be read")
			}
		}
		if _, bad := s.Pattern.(unreadable); bad {
			unchecked = append(unchecked, s)
		}
		if s.Format != nil && s.Format.Name == "regex" {
			s.Format = nil // its patterns are ECMAScript's, not Go's
		}
		if s.PropertyNames != nil {
			s.Extensions = append(s.Extensions, nameRule{s.PropertyNames})
			s.PropertyNames = nil
		}
	}
	var doubted []*jsonschema.Schema
	for _, s := range parts {
		doubted = append(doubted, doubting(s)...)
	}
	for _, s := range reachable(doubted...) {
		if _, bad := s.Pattern.(unreadable); bad {
			return nil, errors.New("a pattern that decides between alternatives cannot be read")
		}
	}
	for _, s := range unchecked {
		s.Pattern = nil
	}
	if circular(parts) {
		return nil, errors.New("circular reference")
	}
	return parts, nil
}

// reachable returns the roots and all schemas below them, each once.
func reachable(roots ...*jsonschema.Schema) []*jsonschema.Schema {
	return closure(roots, func(s *jsonschema.Schema) []*jsonschema.Schema { return append(inPlace(s), inside(s)...) })
}

// closure returns the roots and all schemas reachable through next, each once, in breadth-first order.
func closure(roots []*jsonschema.Schema, next func(*jsonschema.Schema) []*jsonschema.Schema) []*jsonschema.Schema {
	seen := make(map[*jsonschema.Schema]bool, len(roots))
	var all []*jsonschema.Schema
	for queue := slices.Clone(roots); len(queue) > 0; queue = queue[1:] {
		if s := queue[0]; !seen[s] {
			seen[s] = true
			all = append(all, s)
			queue = append(queue, next(s)...)
		}
	}
	return all
}

// inPlace returns the schemas that s applies to the same value.
func inPlace(s *jsonschema.Schema) []*jsonschema.Schema {
	var subs []*jsonschema.Schema // usually empty; this runs for every checked value
	for _, sub := range [...]*jsonschema.Schema{s.Ref, s.Not, s.If, s.Then, s.Else} {
		if sub != nil {
			subs = append(subs, sub)
		}
	}
	subs = append(append(append(subs, s.AllOf...), s.AnyOf...), s.OneOf...)
	if len(s.Dependencies)+len(s.DependentSchemas) == 0 {
		return subs
	}
	for _, name := range slices.Sorted(maps.Keys(s.Dependencies)) {
		subs = appendSchema(subs, s.Dependencies[name])
	}
	for _, name := range slices.Sorted(maps.Keys(s.DependentSchemas)) {
		subs = append(subs, s.DependentSchemas[name])
	}
	return subs
}

// inside returns the schemas that s applies to parts of the value: its members, their names, its items.
func inside(s *jsonschema.Schema) []*jsonschema.Schema {
	subs := slices.Concat([]*jsonschema.Schema{s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems,
		s.ContentSchema}, s.PrefixItems)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		subs = append(subs, s.Properties[name])
	}
	for _, sub := range s.PatternProperties {
		subs = append(subs, sub)
	}
	subs = appendSchema(subs, s.AdditionalProperties)
	subs = appendSchema(subs, s.Items)
	subs = appendSchema(subs, s.AdditionalItems)
	for _, ext := range s.Extensions {
		if rule, ok := ext.(nameRule); ok {
			subs = append(subs, rule.names)
		}
	}
	return slices.DeleteFunc(subs, func(sub *jsonschema.Schema) bool { return sub == nil })
}

// appendSchema appends what the compiler keeps as any: nil, a bool, a schema or a list of them.
func appendSchema(subs []*jsonschema.Schema, v any) []*jsonschema.Schema {
	switch v := v.(type) {
	case *jsonschema.Schema:
		return append(subs, v)
	case []*jsonschema.Schema:
		return append(subs, v...)
	default:
		return subs
	}
}

// doubting returns the schemas below s that make s reject a value if they accept too much.
func doubting(s *jsonschema.Schema) []*jsonschema.Schema {
	subs := slices.Concat([]*jsonschema.Schema{s.Not, s.If}, s.OneOf)
	if s.MaxContains != nil {
		subs = append(subs, s.Contains)
	}
	return slices.DeleteFunc(subs, func(sub *jsonschema.Schema) bool { return sub == nil })
}

// circular reports whether a schema applies itself to the same value. Checking it might not end.
func circular(parts map[string]*jsonschema.Schema) bool {
	const open, closed = 1, 2
	state := map[*jsonschema.Schema]int{}
	var visit func(*jsonschema.Schema) bool
	visit = func(s *jsonschema.Schema) bool {
		if state[s] != 0 {
			return state[s] == open
		}
		state[s] = open
		if slices.ContainsFunc(inPlace(s), visit) {
			return true
		}
		state[s] = closed
		return false
	}
	for _, s := range parts {
		if visit(s) {
			return true
		}
	}
	return false
}

// nameRule is propertyNames. The library's check reuses the path of the object while it still reports it, so that a name of one
// object is reported at the path of another.
type nameRule struct{ names *jsonschema.Schema }

// Validate adds an error for every name that does not fit.
func (r nameRule) Validate(ctx *jsonschema.ValidatorContext, v any) {
	obj, ok := v.(map[string]any)
	if !ok {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(obj)) {
		if r.names.Validate(name) != nil {
			ctx.AddError(&kind.PropertyNames{Property: name})
		}
	}
}
