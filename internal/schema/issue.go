package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/candor-mcp/candor"
)

// reporter turns the findings about one value into issues.
type reporter struct {
	*Schema

	meant alternatives
	maker maker

	refused map[string]bool // paths of keys that have an issue
}

// issue returns a finding with the expectation, the received type, a hint and an example.
func (t *reporter) issue(f finding) candor.Issue {
	out := candor.Issue{Path: f.path, Rule: f.rule, Message: f.message}
	part, wanted := t.parts[f.at], ""
	switch f.what.(type) {
	case *kind.Required, *kind.Dependency, *kind.DependentRequired:
		part = t.keySchema(part, f)
		if part != nil {
			out.Expected, wanted = describe(t.piece(resolved(part).Location)), t.wanted(part)
		}
	case *kind.PropertyNames:
		out.Expected, part = t.expected(f, "propertyNames"), nil
	default:
		out.Expected = t.expected(f, f.rule)
		out.Got = typeAt(f.value, f.steps)
		if f.rule == "type" && part != nil && part.Enum != nil {
			out.Expected, wanted = describe(t.piece(part.Location)), t.wanted(part)
		}
	}
	out.Expected = brief(out.Expected)
	for _, b := range f.chosen {
		t.meant[t.parts[b.at]] = b.index
	}
	out.Hint = candor.Public(t.hint(f), maxMessageShown)
	switch {
	case f.options > 1 && out.Hint == "":
		out.Hint = fmt.Sprintf("this is the closest of %d alternatives", f.options)
	case f.options > 1:
		out.Hint += fmt.Sprintf(" (closest of %d alternatives)", f.options)
	case out.Hint == "":
		out.Hint = candor.Public(wanted, maxMessageShown)
	}
	of := open
	for step := range strings.SplitSeq(f.path, "/") {
		of = of.below(step)
	}
	if part != nil && !f.isUnknownKey() {
		out.Example = t.maker.example(part, of)
	}
	of.hideSecrets(&out)
	return out
}

// wanted says what a missing value must be, or returns "".
func (t *reporter) wanted(part *jsonschema.Schema) string {
	var types []string
	for _, p := range t.alternativesAt(resolved(part).Location) {
		format, _ := t.piece(p.Location)["format"].(string)
		switch {
		case p.Enum != nil:
			return "must be " + valueList(p.Enum.Values)
		case format != "":
			return "must be a valid " + format
		case p.Types != nil:
			types = append(types, p.Types.ToStrings()...)
		}
	}
	slices.Sort(types)
	if types = slices.Compact(types); len(types) == 0 {
		return ""
	}
	return "must be " + typeList(types)
}

// keySchema finds the schema of a missing key: beside the rule that requires it, or in any other schema that applies to its path.
func (s *Schema) keySchema(holder *jsonschema.Schema, f finding) *jsonschema.Schema {
	if holder != nil && holder.Properties[f.key] != nil {
		return holder.Properties[f.key]
	}
	for _, part := range s.schemasAt(f.steps[:len(f.steps)-1]) {
		if sub := part.Properties[f.key]; sub != nil {
			return sub
		}
	}
	return nil
}

// resolved follows references to the schema itself.
func resolved(part *jsonschema.Schema) *jsonschema.Schema {
	for part.Ref != nil {
		part = part.Ref
	}
	return part
}

// schemasAt returns the schemas that apply to the value at the end of the steps.
func (s *Schema) schemasAt(steps []string) []*jsonschema.Schema {
	at := together([]*jsonschema.Schema{s.root})
	for _, step := range steps {
		var next []*jsonschema.Schema
		for _, part := range at {
			if sub := part.Properties[step]; sub != nil {
				next = append(next, sub)
			} else {
				next = appendSchema(next, part.AdditionalProperties)
			}
			if i, err := strconv.Atoi(step); err == nil {
				next = append(next, itemSchemas(part, i)...)
			}
		}
		at = together(next)
	}
	return at
}

// itemSchemas returns the schemas for the item at i.
func itemSchemas(part *jsonschema.Schema, i int) []*jsonschema.Schema {
	first := part.PrefixItems
	if list, ok := part.Items.([]*jsonschema.Schema); ok {
		first = list
	}
	if i >= 0 && i < len(first) {
		return first[i : i+1]
	}
	if one, ok := part.Items.(*jsonschema.Schema); ok {
		return []*jsonschema.Schema{one}
	}
	if part.Items2020 != nil {
		return []*jsonschema.Schema{part.Items2020}
	}
	return nil
}

// together returns schemas and the schemas that they apply to the same value, each once.
func together(parts []*jsonschema.Schema) []*jsonschema.Schema {
	return closure(parts, inPlace)
}

// expected returns the piece of the schema that a finding breaks.
func (s *Schema) expected(f finding, keyword string) any {
	switch k := f.what.(type) { // these may be gathered from several alternatives
	case *kind.Type:
		if len(k.Want) == 1 {
			return map[string]any{"type": k.Want[0]}
		}
		return map[string]any{"type": k.Want}
	case *kind.Enum:
		return map[string]any{"enum": shorten(k.Want, 0)}
	}
	piece := s.piece(f.at)
	if f.isUnknownKey() {
		return nil // the hint has the known names, unless they are too many
	}
	shown := map[string]any{}
	switch f.what.(type) {
	case *kind.ExclusiveMinimum: // in draft 4 a boolean beside the bound
		keep(shown, piece, "minimum", "exclusiveMinimum")
	case *kind.ExclusiveMaximum:
		keep(shown, piece, "maximum", "exclusiveMaximum")
	case *kind.MinContains, *kind.MaxContains:
		keep(shown, piece, "contains", keyword)
	default:
		keep(shown, piece, keyword)
	}
	if len(shown) == 0 {
		return nil
	}
	return shown
}

func keep(shown, piece map[string]any, keywords ...string) {
	for _, keyword := range keywords {
		if v, has := piece[keyword]; has {
			shown[keyword] = shorten(v, 0)
		}
	}
}

// valueAt returns the value at a path.
func valueAt(v any, steps []string) (any, bool) {
	for _, step := range steps {
		switch at := v.(type) {
		case map[string]any:
			member, has := at[step]
			if !has {
				return nil, false
			}
			v = member
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(at) {
				return nil, false
			}
			v = at[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// typeAt returns the JSON type of the value at a path, or "" if it does not exist.
func typeAt(v any, steps []string) string {
	at, has := valueAt(v, steps)
	if !has {
		return ""
	}
	switch at.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	default:
		return "object"
	}
}
