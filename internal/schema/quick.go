package schema

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/candor-mcp/candor/wire"
)

// The quick check. It is made from the compiled schema, so that it cannot read a keyword differently, and knows the keywords that
// tools use. Every node either is sure or says no; each part of a value is looked at by one node, so that the time is that of one scan
// whatever the schema.

// limits are those of [Schema.Accepts] and [Schema.Explain]. Half a surrogate pair is a character like any other here: no keyword
// looks at it.
var limits = wire.Limits{AllowLoneSurrogates: true}

var emptyObject = []byte("{}")

// Accepts reports whether the JSON text is certainly valid: one scan, no memory. No bytes at all count as {}. false
// means that it takes [Schema.Explain] to know, not that the text is invalid.
func (s *Schema) Accepts(value []byte) bool {
	if len(value) == 0 {
		value = emptyObject
	}
	v, err := wire.ParseValue(value, limits)
	return err == nil && s.quick.accepts(v)
}

// node is what the quick check knows of one schema.
type node struct {
	unsure bool  // never accepts
	any    bool  // accepts everything
	types  types // the types allowed; 0 is all

	either    []*node // anyOf, oneOf: then nothing else is set
	exclusive bool    // oneOf

	listed *listed // enum or const

	least, most       bound
	shortest, longest int // in characters; longest < 0 is no bound
	fewest, mostItems int // mostItems < 0 is no bound

	members  map[string]member
	required int   // how many members must be there
	rest     *node // for members without a row; nil accepts all
	items    *node // nil accepts all
}

// member is what an object may have under one name.
type member struct {
	node     *node // nil accepts all
	required bool
}

// types is a set of JSON types, by the bits of [wire.Type] and one for integers.
type types uint16

const integers types = 1 << 15

func typeBit(t wire.Type) types { return 1 << t }

// admits reports whether a value of that type can pass; a number may still have to be whole.
func (t types) admits(v wire.Type) bool {
	return t == 0 || t&typeBit(v) != 0 || v == wire.TypeNumber && t&integers != 0
}

// bound is one end of a range. exact says that at is the bound itself and not the float64 next to it.
type bound struct {
	set, exact, exclusive bool
	at                    float64
}

// listed is the values of an enum.
type listed struct {
	texts   map[string]struct{}
	numbers map[int64]struct{}
	other   [3]bool // null, false, true
}

// accepts is one thing: the keywords in the order of the schema's compiler.
func (n *node) accepts(v wire.Value) bool {
	switch {
	case n == nil || n.any:
		return true
	case n.unsure:
		return false
	case n.either != nil:
		branch := n.branch(v.Type())
		return branch != nil && branch.accepts(v)
	case !n.types.admits(v.Type()) || n.listed != nil && !n.listed.has(v):
		return false
	}
	switch v.Type() {
	case wire.TypeObject:
		return n.acceptsMembers(v)
	case wire.TypeArray:
		return n.acceptsItems(v)
	case wire.TypeString:
		return n.shortest == 0 && n.longest < 0 || n.acceptsLength(v)
	case wire.TypeNumber:
		return n.acceptsNumber(v)
	default:
		return true
	}
}

// branch returns the alternative to try: the first that admits the type, and for oneOf only if no other does. Never two, because
// alternatives inside alternatives would double the time at every level.
func (n *node) branch(t wire.Type) *node {
	var found *node
	for _, b := range n.either {
		switch {
		case !b.types.admits(t):
		case found != nil:
			return nil
		case !n.exclusive:
			return b
		default:
			found = b
		}
	}
	return found
}

func (n *node) acceptsMembers(v wire.Value) bool {
	if n.members == nil && n.rest == nil {
		return true
	}
	missing := n.required
	for name, value := range v.Members() {
		text, plain := inText(name)
		if !plain {
			return false
		}
		m, known := n.members[string(text)]
		if !known {
			m.node = n.rest
		}
		if !m.node.accepts(value) {
			return false
		}
		if m.required {
			missing-- // the scan has refused a name that comes twice
		}
	}
	return missing == 0
}

func (n *node) acceptsItems(v wire.Value) bool {
	count := 0
	for item := range v.Elements() {
		if !n.items.accepts(item) {
			return false
		}
		count++
	}
	return count >= n.fewest && (n.mostItems < 0 || count <= n.mostItems)
}

func (n *node) acceptsLength(v wire.Value) bool {
	text, plain := inText(v)
	count := 0
	if plain {
		count = utf8.RuneCount(text)
	} else {
		count = countEscaped(text)
	}
	return count >= n.shortest && (n.longest < 0 || count <= n.longest)
}

// acceptsNumber leaves exponents and long numbers to the full check.
func (n *node) acceptsNumber(v wire.Value) bool {
	raw := v.Raw()
	const exactDigits, quickDigits = 15, 32 // a float64 holds 15; a longer text than 32 would take memory to convert
	if len(raw) > quickDigits || bytes.IndexByte(raw, 'e') >= 0 || bytes.IndexByte(raw, 'E') >= 0 {
		return false
	}
	dot := bytes.IndexByte(raw, '.')
	if n.types != 0 && n.types&typeBit(wire.TypeNumber) == 0 && dot >= 0 && len(bytes.TrimRight(raw[dot+1:], "0")) > 0 {
		return false // not whole
	}
	if !n.least.set && !n.most.set {
		return true
	}
	f, ok := v.Float64()
	exact := dot < 0 && len(raw) <= exactDigits
	return ok && n.least.below(f, exact) && n.most.below(-f, exact)
}

// below reports whether the bound certainly lies below f, the float64 nearest to some number: the nearest floats of two numbers
// are never in the wrong order, but may be equal where the numbers are not. An upper bound is kept with its sign turned.
func (b bound) below(f float64, exact bool) bool {
	return !b.set || f > b.at || f == b.at && !b.exclusive && exact && b.exact
}

func (l *listed) has(v wire.Value) bool {
	switch v.Type() {
	case wire.TypeString:
		text, plain := inText(v)
		_, ok := l.texts[string(text)]
		return plain && ok
	case wire.TypeNumber:
		i, whole := v.Int64()
		_, ok := l.numbers[i]
		return whole && ok
	case wire.TypeNull:
		return l.other[0]
	case wire.TypeBool:
		b, _ := v.Bool()
		return l.other[1] && !b || l.other[2] && b
	default:
		return false
	}
}

// inText returns what stands between the quotes; plain says that there are no escapes in it.
func inText(v wire.Value) (text []byte, plain bool) {
	raw := v.Raw()
	text = raw[1 : len(raw)-1]
	return text, bytes.IndexByte(text, '\\') < 0
}

// countEscaped counts the characters of a text with escapes, a surrogate pair as one.
func countEscaped(text []byte) int {
	count := 0
	for i := 0; i < len(text); count++ {
		switch {
		case text[i] != '\\':
			_, size := utf8.DecodeRune(text[i:])
			i += size
		case text[i+1] != 'u':
			i += len(`\n`)
		default:
			const one = len(`\ud800`)
			if isHalf(text[i:], 0xd8) && isHalf(text[i+one:], 0xdc) {
				i += one
			}
			i += one
		}
	}
	return count
}

// isHalf reports whether text begins with the escape of a surrogate; first is the first byte of that half's range.
func isHalf(text []byte, first uint64) bool {
	if len(text) < len(`\ud800`) || text[0] != '\\' || text[1] != 'u' {
		return false
	}
	high, err := strconv.ParseUint(string(text[2:4]), 16, 8)
	return err == nil && high&^3 == first
}
