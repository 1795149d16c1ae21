package schema

import (
	"encoding/json"
	"math/big"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// placeholder stands where any text would do.
const placeholder = "text"

// shape combines the schemas that apply to one value, as far as that is needed to build a value.
type shape struct {
	types   []string // nil is all
	offered []any    // constants, defaults, examples, listed values, in this order
	null    bool     // null is offered too, which shows nothing and comes last

	least, most, step         *big.Rat
	aboveLeast, belowMost     bool // the bound itself does not count
	minLength, maxLength      int  // maxLength < 0 means no bound
	pattern, format           string
	minItems, minProperties   int
	unique                    bool
	items                     *jsonschema.Schema
	prefix, contains          []*jsonschema.Schema
	required, wanted          []string
	beside                    map[string][]string // required beside a key
	properties                map[string][]*jsonschema.Schema
	additional                []*jsonschema.Schema
	defaults, examples, enums []any
}

// gather merges a schema with all that it applies to the same value, taking one branch of every alternative.
func (m *maker) gather(part *jsonschema.Schema, choice int) *shape {
	s := &shape{maxLength: -1, properties: map[string][]*jsonschema.Schema{}, beside: map[string][]string{}}
	for _, p := range closure([]*jsonschema.Schema{part}, func(p *jsonschema.Schema) []*jsonschema.Schema {
		subs := required(p)
		for _, either := range [][]*jsonschema.Schema{p.AnyOf, p.OneOf} {
			if len(either) > 0 {
				subs = append(slices.Clip(subs), either[(m.wanted.branches[p]+choice)%len(either)])
			}
		}
		return subs
	}) {
		s.take(p)
		s.wanted = append(s.wanted, m.wanted.keys[p]...)
		if format, ok := m.schema.piece(p.Location)["format"].(string); ok {
			s.format = format
		}
	}
	s.offered = slices.Concat(s.offered, s.defaults, s.examples, s.enums)
	all := len(s.offered)
	s.offered = slices.DeleteFunc(s.offered, func(v any) bool { return v == nil })
	s.null = len(s.offered) < all
	if len(s.wanted) > 0 {
		s.offered = nil // they do not have what is wanted
	}
	slices.Sort(s.required)
	return s
}

// take adds what one schema says.
func (s *shape) take(p *jsonschema.Schema) {
	s.takeOffers(p)
	if p.Types != nil {
		s.types = common(s.types, p.Types.ToStrings())
	}
	s.least, s.aboveLeast = tighter(s.least, s.aboveLeast, p.Minimum, p.ExclusiveMinimum, 1)
	s.most, s.belowMost = tighter(s.most, s.belowMost, p.Maximum, p.ExclusiveMaximum, -1)
	if p.MultipleOf != nil {
		s.step = p.MultipleOf
	}
	s.minLength = larger(s.minLength, p.MinLength)
	s.minItems = max(larger(s.minItems, p.MinItems), larger(0, p.MinContains))
	s.minProperties = larger(s.minProperties, p.MinProperties)
	if p.MaxLength != nil && (s.maxLength < 0 || *p.MaxLength < s.maxLength) {
		s.maxLength = *p.MaxLength
	}
	if p.Pattern != nil {
		s.pattern = p.Pattern.String()
	}
	s.takeArray(p)
	s.required = append(s.required, p.Required...)
	for name, sub := range p.Properties {
		s.properties[name] = append(s.properties[name], sub)
	}
	for name, names := range p.DependentRequired {
		s.beside[name] = append(s.beside[name], names...)
	}
	for name, dep := range p.Dependencies {
		if names, ok := dep.([]string); ok {
			s.beside[name] = append(s.beside[name], names...)
		}
	}
	s.additional = appendSchema(s.additional, p.AdditionalProperties)
}

func (s *shape) takeOffers(p *jsonschema.Schema) {
	if p.Const != nil {
		s.offered = append(s.offered, *p.Const)
	}
	if p.Default != nil {
		s.defaults = append(s.defaults, *p.Default)
	}
	const few = 4 // an example that does not pass is rarely followed by one that does
	s.examples = append(s.examples, p.Examples[:min(len(p.Examples), few)]...)
	if p.Enum != nil {
		s.enums = append(s.enums, p.Enum.Values[:min(len(p.Enum.Values), maxMadeItems)]...)
	}
}

func (s *shape) takeArray(p *jsonschema.Schema) {
	s.unique = s.unique || p.UniqueItems
	if p.Contains != nil {
		for range min(max(1, larger(0, p.MinContains)), maxMadeItems) {
			s.contains = append(s.contains, p.Contains)
		}
	}
	switch items := p.Items.(type) {
	case *jsonschema.Schema:
		s.items = items
	case []*jsonschema.Schema:
		s.prefix = items
	}
	if len(p.PrefixItems) > 0 {
		s.prefix = p.PrefixItems
	}
	if p.Items2020 != nil {
		s.items = p.Items2020
	}
}

// common returns the types in both lists. An integer is a number.
func common(have, also []string) []string {
	if have == nil {
		return also
	}
	var both []string
	for _, t := range have {
		switch {
		case slices.Contains(also, t):
			both = append(both, t)
		case t == "number" && slices.Contains(also, "integer"), t == "integer" && slices.Contains(also, "number"):
			both = append(both, "integer")
		}
	}
	return both
}

func larger(have int, also *int) int {
	if also == nil {
		return have
	}
	return max(have, *also)
}

// tighter joins bounds; sign is 1 for lower and -1 for upper ones.
func tighter(have *big.Rat, open bool, inclusive, exclusive *big.Rat, sign int) (*big.Rat, bool) {
	if inclusive != nil && (have == nil || inclusive.Cmp(have) == sign) {
		have, open = inclusive, false
	}
	if exclusive != nil && (have == nil || exclusive.Cmp(have) != -sign) {
		have, open = exclusive, true
	}
	return have, open
}

// kind returns the type to build: the first that is allowed and says something, else the one that the keywords speak of.
func (s *shape) kind(depth int) string {
	for _, t := range []string{"object", "array", "string", "integer", "number", "boolean", "null"} {
		if slices.Contains(s.types, t) {
			return t
		}
	}
	switch {
	case len(s.properties)+len(s.required)+s.minProperties > 0 || depth == 0:
		return "object"
	case s.items != nil || len(s.prefix)+len(s.contains)+s.minItems > 0:
		return "array"
	case s.pattern == "" && s.minLength == 0 && (s.least != nil || s.most != nil || s.step != nil):
		return "number"
	default:
		return "string"
	}
}

// number returns the smallest number that is allowed, 1 if all are.
func (s *shape) number(whole bool) (any, bool) {
	step := big.NewRat(1, 1)
	if s.step != nil {
		step = s.step
	} else if !whole && s.least != nil && s.most != nil {
		step = new(big.Rat).Quo(new(big.Rat).Sub(s.most, s.least), big.NewRat(2, 1)) // the middle, if the ends do not count
	}
	n := big.NewRat(1, 1)
	switch {
	case s.least != nil:
		n = s.least
	case s.most != nil && s.most.Cmp(n) <= 0:
		n = s.most
		if s.belowMost {
			n = new(big.Rat).Sub(n, big.NewRat(1, 1))
		}
	}
	if step.Sign() <= 0 {
		step = big.NewRat(1, 1)
	}
	if whole || s.step != nil {
		n = multiple(n, step)
	}
	if s.least != nil && s.aboveLeast && n.Cmp(s.least) <= 0 {
		n = new(big.Rat).Add(n, step)
	}
	if n.IsInt() {
		return json.Number(n.Num().String()), true
	}
	const digits = 12
	return json.Number(strings.TrimRight(n.FloatString(digits), "0")), true
}

// multiple returns the first multiple of step that is not below n.
func multiple(n, step *big.Rat) *big.Rat {
	q := new(big.Rat).Quo(n, step)
	up := new(big.Int).Add(q.Num(), q.Denom())
	up.Sub(up, big.NewInt(1))
	up.Div(up, q.Denom()) // rounds down for a positive divisor
	return new(big.Rat).Mul(new(big.Rat).SetInt(up), step)
}

// formats are texts that are recognisable as examples.
var formats = map[string]string{
	"date": "2026-01-31", "date-time": "2026-01-31T12:00:00Z", "time": "12:00:00Z", "duration": "PT1H", "period": "PT1H",
	"email": "name@example.com", "idn-email": "name@example.com", "hostname": "example.com", "idn-hostname": "example.com",
	"ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "uri": "https://example.com", "url": "https://example.com", "iri": "https://example.com",
	"uri-reference": "example", "iri-reference": "example", "uri-template": "https://example.com/{id}",
	"uuid": "00000000-0000-4000-8000-000000000000", "json-pointer": "/name", "relative-json-pointer": "0", "regex": "^text$",
	"semver": "1.0.0",
}

// hasFormat reports whether a built value of that type shows what the schema asks for: lists and objects by their parts, a text by its
// format.
func (s *shape) hasFormat(kind string) bool {
	switch kind {
	case "array", "object":
		return true
	case "string":
		sample, known := formats[s.format]
		return known && s.pattern == "" && s.minLength <= len(sample) && (s.maxLength < 0 || len(sample) <= s.maxLength)
	default:
		return false
	}
}

func (s *shape) text() (any, bool) {
	text, known := formats[s.format]
	if !known {
		text = placeholder
	}
	if s.pattern != "" {
		re, err := syntax.Parse(s.pattern, syntax.Perl)
		if err != nil {
			return nil, false
		}
		var b strings.Builder
		if !matching(&b, re, max(s.minLength, 0)) {
			return nil, false
		}
		text = b.String()
	}
	count := utf8.RuneCountInString(text)
	if s.minLength > maxMadeText {
		return nil, false
	}
	if count < s.minLength {
		text += strings.Repeat("x", s.minLength-count)
	}
	if s.maxLength >= 0 && count > s.maxLength && s.pattern == "" {
		text = string([]rune(text)[:s.maxLength])
	}
	return text, true
}
