package schema

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/candor-mcp/candor"
)

// Templates and examples. They are made from the schema alone and then checked against it: making is a matter of good guesses, and
// only what passes is shown. So a keyword that is not understood here costs a template, never its truth.

// Bounds of what is made.
const (
	maxTemplate    = 4096 // bytes
	maxExample     = 1024 // bytes
	maxMadeDepth   = 8
	maxMadeItems   = 32
	maxMadeText    = 1024 // characters
	templateTrials = 1000
	exampleTrials  = 100
	madeSteps      = 300_000 // of checking, for all examples of a report together, and for its template
)

// templateFor makes a whole value that passes, with the keys that are wanted; none if that cannot be done.
func (s *Schema) templateFor(meant wanted) candor.Details {
	m := maker{schema: s, wanted: meant, steps: madeSteps}
	for {
		m.trials = templateTrials
		v, ok := m.value(s.root, 0)
		if details := candor.DetailsOf(v); ok && len(details.String()) <= maxTemplate && m.passes(s.root, details) {
			return details
		}
		if len(m.wanted.keys)+len(m.wanted.branches) == 0 {
			return candor.Details{}
		}
		m.wanted = wanted{}
	}
}

// maker makes values for schemas. trials and steps bound all its work.
type maker struct {
	schema *Schema
	wanted wanted
	trials int
	steps  int

	invented bool // something in the value that was made last does not come from the schema
}

// example returns a value that passes one part of the schema and comes from it: a constant, a default, an example, a listed value, or a
// value of a known format. An invented one misleads where a path or an id is wanted. It is nil without such a value.
func (m *maker) example(part *jsonschema.Schema) any {
	if known, ok := m.schema.examples.Load(part); ok {
		return known
	}
	example := m.makeExample(part)
	if m.steps >= 0 { // otherwise it was not looked for to the end
		m.schema.examples.Store(part, example)
	}
	return example
}

func (m *maker) makeExample(part *jsonschema.Schema) any {
	m.trials, m.invented = exampleTrials, false
	v, ok := m.value(part, 1)
	if !ok || m.invented {
		return nil
	}
	if details := candor.DetailsOf(v); len(details.String()) > maxExample || !m.passes(part, details) {
		return nil
	}
	return v
}

// passes checks a value as it will be read: cleaned and cut.
func (m *maker) passes(part *jsonschema.Schema, details candor.Details) bool {
	text, err := details.MarshalJSON()
	if err != nil {
		return false
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	return err == nil && m.fits(part, v)
}

// fits reports whether a made value passes.
func (m *maker) fits(part *jsonschema.Schema, v any) bool {
	work := cost{left: m.steps}
	ok := work.affords(part, v) && !work.insane && part.Validate(v) == nil
	m.steps = work.left
	return ok
}

// value makes a value for a schema: one that the schema itself offers, else one that is built.
func (m *maker) value(part *jsonschema.Schema, depth int) (any, bool) {
	if depth > maxMadeDepth {
		return nil, false
	}
	before := m.invented
	for choice := range m.choices(part) {
		if m.trials--; m.trials < 0 || m.steps < 0 {
			return nil, false
		}
		shape := m.gather(part, choice)
		m.invented = before
		for _, v := range shape.offered {
			if m.fits(part, v) {
				return v, true
			}
		}
		for _, richly := range []bool{true, false} {
			m.invented = before
			if v, ok := m.build(shape, depth, richly); ok && m.fits(part, v) {
				return v, true
			}
		}
		if shape.null && m.fits(part, nil) {
			m.invented = before
			return nil, true
		}
	}
	return nil, false
}

// choices is how many alternatives are worth a try.
func (m *maker) choices(part *jsonschema.Schema) int {
	const most = 8
	n := 1
	for _, p := range together([]*jsonschema.Schema{part}) {
		m.steps--
		n = max(n, len(p.AnyOf), len(p.OneOf))
	}
	return min(n, most)
}

// build makes a value of the shape's type. Richly means with an item in every list, which teaches more than an empty one.
func (m *maker) build(shape *shape, depth int, richly bool) (any, bool) {
	kind := shape.kind(depth)
	m.invented = m.invented || !shape.hasFormat(kind)
	switch kind {
	case "null":
		return nil, true
	case "boolean":
		return true, true
	case "integer":
		return shape.number(true)
	case "number":
		return shape.number(false)
	case "array":
		return m.array(shape, depth, richly)
	case "object":
		return m.object(shape, depth)
	default:
		return shape.text()
	}
}

func (m *maker) object(shape *shape, depth int) (any, bool) {
	object := map[string]any{}
	add := func(name string) bool {
		v, ok := m.member(shape, name, depth)
		if ok {
			object[name] = v
		}
		return ok
	}
	for must := slices.Clone(shape.required); len(must) > 0; must = must[1:] {
		if _, has := object[must[0]]; has {
			continue
		}
		if !add(must[0]) {
			return nil, false
		}
		must = append(must, shape.beside[must[0]]...)
	}
	for _, name := range shape.wanted {
		add(name)
	}
	for _, name := range slices.Sorted(maps.Keys(shape.properties)) {
		if _, has := object[name]; !has && len(object) < shape.minProperties {
			add(name)
		}
	}
	for i := 1; len(object) < min(shape.minProperties, maxMadeItems); i++ {
		m.invented = true
		if !add("key" + strconv.Itoa(i)) {
			return nil, false
		}
	}
	m.invented = m.invented || len(object) == 0
	return object, true
}

// member makes the value of one key.
func (m *maker) member(shape *shape, name string, depth int) (any, bool) {
	parts := shape.properties[name]
	if len(parts) == 0 {
		parts = shape.additional
	}
	if len(parts) == 0 {
		m.invented = true
		return placeholder, true
	}
	for _, part := range parts {
		v, ok := m.value(part, depth+1)
		if ok && !slices.ContainsFunc(parts, func(other *jsonschema.Schema) bool { return other != part && !m.fits(other, v) }) {
			return v, true
		}
	}
	return nil, false
}

func (m *maker) array(shape *shape, depth int, richly bool) (any, bool) {
	array := []any{}
	n := max(shape.minItems, len(shape.contains))
	if richly && (shape.items != nil || len(shape.prefix) > 0) {
		n = max(n, 1)
	}
	for i := range min(n, maxMadeItems) {
		part := shape.items
		switch {
		case i < len(shape.prefix):
			part = shape.prefix[i]
		case i-len(shape.prefix) < len(shape.contains):
			part = shape.contains[i-len(shape.prefix)]
		}
		var item any = placeholder
		m.invented = m.invented || part == nil || shape.unique && i > 0 && part.Enum == nil
		if part != nil {
			made, ok := m.value(part, depth+1)
			if !ok {
				return nil, false
			}
			item = made
		}
		if shape.unique {
			item = distinct(item, part, i)
		}
		array = append(array, item)
	}
	m.invented = m.invented || len(array) == 0
	return array, true
}

// distinct makes the i-th item differ from those before it, if the schema allows that.
func distinct(item any, part *jsonschema.Schema, i int) any {
	if part != nil && part.Enum != nil && i < len(part.Enum.Values) {
		return part.Enum.Values[i]
	}
	switch v := item.(type) {
	case string:
		if i > 0 {
			return v + strconv.Itoa(i+1)
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return json.Number(strconv.FormatInt(n+int64(i), 10))
		}
	}
	return item
}
