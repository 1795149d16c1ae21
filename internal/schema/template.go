package schema

import (
	"bytes"
	"encoding/json"
	"math/big"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/candor-mcp/candor"
)

// Templates and examples are made from constants, defaults, examples, enums, formats and types of the schema, then checked against
// it. Only those that pass are shown.

// Limits of templates and examples.
const (
	maxTemplate  = 4096 // bytes
	maxExample   = 1024 // bytes
	maxMadeDepth = 8
	maxOffers    = 32
	madeSteps    = 300_000 // of validation, for a template or all examples of a report
)

// alternatives holds the indexes of the alternatives that the caller probably meant. A template shows them.
type alternatives map[*jsonschema.Schema]int

// templateFor returns a value that passes the schema, or zero Details if it finds none.
func (s *Schema) templateFor(meant alternatives) candor.Details {
	m := maker{schema: s, meant: meant, steps: madeSteps}
	v, _, ok := m.value(s.root, open, 0)
	if details := candor.DetailsOf(v); ok && len(details.String()) <= maxTemplate && m.passes(s.root, details) {
		return details
	}
	return candor.Details{}
}

// maker makes values for schemas. steps limits its work.
type maker struct {
	schema *Schema
	meant  alternatives
	steps  int
}

// exampleKey identifies an example of a schema. One schema may describe a secret and another value.
type exampleKey struct {
	part *jsonschema.Schema
	of   secrecy
}

// example returns a value that the schema states and that passes, or nil. Invented values would mislead where a path or an id is
// expected.
func (m *maker) example(part *jsonschema.Schema, of secrecy) any {
	key := exampleKey{part, of}
	if known, ok := m.schema.examples.Load(key); ok {
		return known
	}
	example, stated, ok := m.value(part, of, 1)
	if details := candor.DetailsOf(example); !ok || !stated || len(details.String()) > maxExample || !m.passes(part, details) {
		example = nil
	}
	if m.steps >= 0 { // otherwise the search was incomplete
		m.schema.examples.Store(key, example)
	}
	return example
}

// passes validates a value in the form that is shown: redacted and cut.
func (m *maker) passes(part *jsonschema.Schema, details candor.Details) bool {
	text, err := details.MarshalJSON()
	if err != nil {
		return false
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	return err == nil && m.fits(part, v)
}

func (m *maker) fits(part *jsonschema.Schema, v any) bool {
	work := cost{left: m.steps}
	ok := work.affords(part, v) && !work.insane && part.Validate(v) == nil
	m.steps = work.left
	return ok
}

// value returns a value that passes a schema. stated reports whether all of it comes from the schema. Values that may
// be secrets are not taken from the schema.
func (m *maker) value(part *jsonschema.Schema, of secrecy, depth int) (v any, stated, ok bool) {
	if m.steps--; depth > maxMadeDepth || m.steps < 0 {
		return nil, false, false
	}
	parts := unconditional(part)
	offers := offersOf(parts)
	if i := slices.IndexFunc(offers, func(v any) bool { return v != nil && !of.hides(v) && m.fits(part, v) }); i >= 0 {
		return offers[i], true, true
	}
	for _, p := range parts {
		for _, either := range [][]*jsonschema.Schema{p.AnyOf, p.OneOf} {
			for i := range either {
				branch := either[(m.meant[p]+i)%len(either)]
				if v, stated, ok = m.value(branch, of, depth+1); ok && v != nil && m.fits(part, v) {
					return v, stated, true
				}
			}
		}
	}
	for _, t := range typesToTry(parts, depth) {
		if v, stated, ok = m.ofType(t, parts, of, depth); ok && m.fits(part, v) {
			return v, stated, true
		}
	}
	return nil, false, false
}

// offersOf returns the values that schemas state.
func offersOf(parts []*jsonschema.Schema) []any {
	var first, defaults, examples, enums []any
	for _, p := range parts {
		if p.Const != nil {
			first = append(first, *p.Const)
		}
		if p.Default != nil {
			defaults = append(defaults, *p.Default)
		}
		examples = append(examples, p.Examples...)
		if p.Enum != nil {
			enums = append(enums, p.Enum.Values...)
		}
	}
	offers := slices.Concat(first, defaults, examples, enums)
	return offers[:min(len(offers), maxOffers)]
}

// typesToTry returns the types that the schemas name, or else those that their keywords suggest.
func typesToTry(parts []*jsonschema.Schema, depth int) []string {
	all := []string{"object", "array", "string", "integer", "number", "boolean", "null"}
	for _, p := range parts {
		if p.Types != nil {
			named := p.Types.ToStrings()
			return slices.DeleteFunc(all, func(t string) bool { return !slices.Contains(named, t) })
		}
	}
	if depth == 0 || slices.ContainsFunc(parts, func(p *jsonschema.Schema) bool { return len(p.Properties)+len(p.Required) > 0 }) {
		return all[:1]
	}
	return []string{"string", "integer"}
}

// ofType returns a value of a type. The caller checks it.
func (m *maker) ofType(t string, parts []*jsonschema.Schema, of secrecy, depth int) (v any, stated, ok bool) {
	switch t {
	case "null":
		return nil, false, true
	case "boolean":
		return true, false, true
	case "integer", "number":
		n := big.NewRat(1, 1)
		for _, p := range parts {
			if p.Minimum != nil && p.Minimum.Cmp(n) > 0 {
				n = p.Minimum
			}
			if p.Maximum != nil && p.Maximum.Cmp(n) < 0 {
				n = p.Maximum
			}
		}
		return json.Number(number(n)), false, true
	case "array":
		return m.array(parts, of, depth)
	case "object":
		return m.object(parts, of, depth)
	default:
		return m.text(parts)
	}
}

func (m *maker) text(parts []*jsonschema.Schema) (v any, stated, ok bool) {
	least := 0
	for _, p := range parts {
		if p.MinLength != nil {
			least = min(*p.MinLength, maxExample)
		}
	}
	for _, p := range parts {
		format, _ := m.schema.piece(p.Location)["format"].(string)
		if text, known := formats[format]; known {
			return text, true, true
		}
	}
	return placeholder + strings.Repeat("x", max(0, least-len(placeholder))), false, true
}

func (m *maker) array(parts []*jsonschema.Schema, of secrecy, depth int) (v any, stated, ok bool) {
	for _, p := range parts {
		for _, items := range itemSchemas(p, 0) {
			if item, stated, ok := m.value(items, of, depth+1); ok {
				return []any{item}, stated, true
			}
		}
	}
	return []any{}, false, true
}

// object returns an object with the required keys.
func (m *maker) object(parts []*jsonschema.Schema, of secrecy, depth int) (v any, stated, ok bool) {
	object, stated := map[string]any{}, true
	var names []string
	for _, p := range parts {
		names = append(names, p.Required...)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		member, said, made := m.member(parts, name, of.below(name), depth)
		if !made {
			return nil, false, false
		}
		object[name], stated = member, stated && said
	}
	return object, stated && len(object) > 0, true
}

func (m *maker) member(parts []*jsonschema.Schema, name string, of secrecy, depth int) (v any, stated, ok bool) {
	for _, p := range parts {
		if sub := p.Properties[name]; sub != nil {
			return m.value(sub, of, depth+1)
		}
	}
	for _, p := range parts {
		if sub, is := p.AdditionalProperties.(*jsonschema.Schema); is {
			return m.value(sub, of, depth+1)
		}
	}
	return placeholder, false, true
}

// placeholder is used where any string passes.
const placeholder = "text"

// formats are recognisable examples of formats.
var formats = map[string]string{
	"date": "2026-01-31", "date-time": "2026-01-31T12:00:00Z", "time": "12:00:00Z", "duration": "PT1H",
	"email": "name@example.com", "hostname": "example.com", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1",
	"uri": "https://example.com", "url": "https://example.com", "uuid": "00000000-0000-4000-8000-000000000000",
}
