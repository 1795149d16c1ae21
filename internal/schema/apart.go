package schema

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/candor-mcp/candor/wire"
)

// Large values are taken apart: what the schema says of the whole is checked here, and every part by itself. Only the keywords
// that tools use for such values are known here.

// apart checks a value part by part. It returns false, having done nothing, if the schema does not allow that.
func (y *survey) apart(s *jsonschema.Schema, v wire.Value, steps []string) bool {
	t := v.Type()
	if !typesOf(s).admits(t) { // then the validator looks no further either
		y.note(s, &kind.Type{Got: t.String(), Want: s.Types.ToStrings()}, steps, outline(v))
		return true
	}
	if s.Bool != nil || t != wire.TypeObject && t != wire.TypeArray && t != wire.TypeString || !only(s, withoutSeparable) {
		return false
	}
	var choices []choice
	for _, list := range [][]*jsonschema.Schema{s.AnyOf, s.OneOf} {
		if len(list) == 0 {
			continue
		}
		c := chooseFor(list, t)
		if c.fitting > 1 {
			return false
		}
		choices = append(choices, c)
	}
	if s.Ref != nil {
		y.value(s.Ref, v, steps)
		if s.DraftVersion < 2019 {
			return true // there a reference stands alone
		}
	}
	for _, sub := range s.AllOf {
		y.value(sub, v, steps)
	}
	for _, c := range choices {
		y.choice(s, c, v, steps)
	}
	switch t {
	case wire.TypeObject:
		y.members(s, v, steps)
	case wire.TypeArray:
		y.items(s, v, steps)
	default:
		y.text(s, v, steps)
	}
	return true
}

// withoutSeparable takes out the keywords that can be checked part by part.
func withoutSeparable(c *jsonschema.Schema) {
	if c.Enum == nil && c.Const == nil {
		withoutKnown(c)
	}
	c.Ref, c.AllOf, c.AnyOf, c.OneOf, c.PrefixItems, c.PatternProperties, c.Pattern = nil, nil, nil, nil, nil, nil, nil
	c.MinProperties, c.MaxProperties, c.MultipleOf = nil, nil, nil
}

// choice is the alternative that applies to values of one type.
type choice struct {
	only    *jsonschema.Schema // if one is fitting
	index   int                // of that
	fitting int
	options int
	want    []string // the types that the others are for
}

// chooseFor looks at nothing but types.
func chooseFor(list []*jsonschema.Schema, t wire.Type) choice {
	c := choice{options: len(list)}
	for i, sub := range list {
		if part := resolved(sub); typesOf(part).admits(t) {
			c.only, c.index = sub, i
			c.fitting++
		} else {
			c.want = append(c.want, part.Types.ToStrings()...)
		}
	}
	slices.Sort(c.want)
	c.want = slices.Compact(c.want)
	return c
}

// choice checks the only alternative, or adds a finding if there are none.
func (y *survey) choice(s *jsonschema.Schema, c choice, v wire.Value, steps []string) {
	if c.fitting == 0 {
		y.note(s, &kind.Type{Got: v.Type().String(), Want: c.want}, steps, outline(v))
		return
	}
	before := len(y.found)
	y.value(c.only, v, steps)
	choose(y.found[before:], branch{s.Location, c.index}, c.options)
}

// passes reports whether a part is certainly valid.
func (y *survey) passes(s *jsonschema.Schema, v wire.Value) bool {
	if s.Bool != nil {
		return *s.Bool
	}
	n, known := y.schema.nodes[s]
	return known && n.accepts(v, &y.read)
}

func (y *survey) members(s *jsonschema.Schema, v wire.Value, steps []string) {
	missing := map[string]bool{}
	for _, name := range s.Required {
		missing[name] = true
	}
	o := object{schema: s, steps: steps, given: map[string]any{}}
	o.patterns = slices.SortedFunc(maps.Keys(s.PatternProperties), func(a, b jsonschema.Regexp) int { return strings.Compare(a.String(), b.String()) })
	count := 0
	for name, member := range v.Members() {
		if count++; y.done() {
			y.unsure = true
			return
		}
		text, _ := name.StrBytes()
		delete(missing, string(text))
		y.member(&o, text, member)
	}
	for _, name := range s.Required {
		if missing[name] {
			y.key(&o, &kind.Required{Missing: []string{name}}, name)
		}
	}
	if s.MinProperties != nil && count < *s.MinProperties {
		y.note(s, &kind.MinProperties{Got: count, Want: *s.MinProperties}, steps, hollow(v))
	}
	if s.MaxProperties != nil && count > *s.MaxProperties {
		y.note(s, &kind.MaxProperties{Got: count, Want: *s.MaxProperties}, steps, hollow(v))
	}
}

// object is an object that is taken apart.
type object struct {
	schema   *jsonschema.Schema
	patterns []jsonschema.Regexp // of patternProperties, sorted
	steps    []string
	given    map[string]any // its members that the schema knows, and some of the others
}

// member checks one member against all that is said of its name.
func (y *survey) member(o *object, name []byte, v wire.Value) {
	var subs []*jsonschema.Schema
	if sub := o.schema.Properties[string(name)]; sub != nil {
		subs = append(subs, sub)
		o.given[string(name)] = nil
	}
	for _, re := range o.patterns {
		switch matched, ok := y.matches(re, string(name)); {
		case !ok:
			return
		case matched:
			subs = append(subs, o.schema.PatternProperties[re])
		}
	}
	if rest, ok := o.schema.AdditionalProperties.(*jsonschema.Schema); ok && len(subs) == 0 {
		subs = append(subs, rest)
	}
	for _, sub := range subs {
		if !y.passes(sub, v) {
			y.value(sub, v, append(o.steps, string(name)))
		}
	}
	if len(subs) == 0 && len(o.given) < maxCandidates {
		o.given[string(name)] = hollow(v)
	}
	if len(subs) == 0 && o.schema.AdditionalProperties == false {
		o.given[string(name)] = hollow(v)
		y.key(o, &kind.AdditionalProperties{Properties: []string{string(name)}}, string(name))
	}
}

// key notes a finding about a name.
func (y *survey) key(o *object, what jsonschema.ErrorKind, name string) {
	f := finding{at: o.schema.Location, steps: []string{name}, key: name, what: what}
	y.add([]finding{f}, decodedPart{o.given, len(o.steps)}, o.steps)
}

func (y *survey) items(s *jsonschema.Schema, v wire.Value, steps []string) {
	before, count := len(y.found), 0
	rest := s.Items2020
	if one, ok := s.Items.(*jsonschema.Schema); ok {
		rest = one
	}
	for item := range v.Elements() {
		if y.done() || len(y.found)-before >= plenty {
			y.unsure = true
			return
		}
		sub := rest
		if count < len(s.PrefixItems) {
			sub = s.PrefixItems[count]
		}
		if sub != nil && !y.passes(sub, item) {
			y.value(sub, item, append(steps, strconv.Itoa(count)))
		}
		count++
	}
	if s.MinItems != nil && count < *s.MinItems {
		y.note(s, &kind.MinItems{Got: count, Want: *s.MinItems}, steps, hollow(v))
	}
	if s.MaxItems != nil && count > *s.MaxItems {
		y.note(s, &kind.MaxItems{Got: count, Want: *s.MaxItems}, steps, hollow(v))
	}
}

func (y *survey) text(s *jsonschema.Schema, v wire.Value, steps []string) {
	text, _ := v.StrBytes()
	count := utf8.RuneCount(text)
	if s.MinLength != nil && count < *s.MinLength {
		y.note(s, &kind.MinLength{Got: count, Want: *s.MinLength}, steps, "")
	}
	if s.MaxLength != nil && count > *s.MaxLength {
		y.note(s, &kind.MaxLength{Got: count, Want: *s.MaxLength}, steps, "")
	}
	if s.Pattern == nil {
		return
	}
	if matched, ok := y.matches(s.Pattern, string(text)); ok && !matched {
		y.note(s, &kind.Pattern{Want: s.Pattern.String()}, steps, "")
	}
}

// matches tries a regular expression, if there are steps for that.
func (y *survey) matches(re jsonschema.Regexp, text string) (matched, ok bool) {
	work := cost{left: y.steps}
	work.match(re, text)
	if y.steps = work.left; y.steps < 0 {
		y.unsure = true
		return false, false
	}
	return re.MatchString(text), true
}
