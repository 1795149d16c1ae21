package schema

import (
	"bytes"
	"unicode/utf8"

	"github.com/candor-mcp/candor/wire"
)

// The quick check is built from the compiled schema and supports the keywords that tools use. A node reports true only if the value
// is certainly valid. Each part of a value is visited by one node, so the time does not depend on the schema.

// limits are those of [Schema.Accepts] and [Schema.Explain]. Lone surrogates are allowed, because no keyword depends on them.
var limits = wire.Limits{AllowLoneSurrogates: true}

var emptyObject = []byte("{}")

// Accepts reports whether the JSON text is certainly valid. It does not allocate and takes linear time. Empty text counts as {}.
// If it returns false, the text may be valid; [Schema.Explain] decides.
func (s *Schema) Accepts(value []byte) bool {
	if len(value) == 0 {
		value = emptyObject
	}
	v, err := wire.ParseValue(value, limits)
	if err != nil {
		return false
	}
	return s.quick.accepts(v, budgetFor(len(value)))
}

// budget limits the bytes that accepts may scan. Nested values are scanned once per level.
type budget int

// budgetFor returns the budget for a text: enough for any small text and for a few scans of a large one.
func budgetFor(length int) *budget {
	left := budget(8<<20 + 4*length)
	return &left
}

// spend reports whether v is still within the budget.
func (r *budget) spend(v wire.Value) bool {
	*r -= budget(len(v.Raw()))
	return *r >= 0
}

// node is the quick check of one schema.
type node struct {
	unsure bool  // never accepts
	any    bool  // accepts everything
	types  types // the types allowed; 0 is all

	either    []*node // anyOf or oneOf; only exclusive may be set with it
	exclusive bool    // oneOf

	listed *listed // enum or const

	least, most       bound
	shortest, longest int // in characters; longest < 0 means no bound
	fewest, mostItems int // mostItems < 0 means no bound

	members  members
	required int   // number of required members
	rest     *node // for all other members; nil accepts all
	items    *node // nil accepts all
}

// members holds the checks of an object's members by name. Up to 8 are searched linearly.
type members struct {
	few  []member
	many map[string]*member // set if there are more than a few
}

// member is the check of one member. Its name does not contain a backslash, so names are compared without unescaping.
type member struct {
	name     string
	node     *node // nil accepts all
	required bool
}

func (m *members) find(name []byte) *member {
	if m.many != nil {
		return m.many[string(name)]
	}
	for i := range m.few {
		if m.few[i].name == string(name) {
			return &m.few[i]
		}
	}
	return nil
}

// types is a set of JSON types, by the bits of [wire.Type] and one for integers.
type types uint16

const integers types = 1 << 15

func typeBit(t wire.Type) types { return 1 << t }

// admits reports whether a value of that type can pass; a number may still have to be whole.
func (t types) admits(v wire.Type) bool {
	return t == 0 || t&typeBit(v) != 0 || v == wire.TypeNumber && t&integers != 0
}

// bound is one end of a range. exact reports whether at is the bound itself and not the nearest float64.
type bound struct {
	set, exact, exclusive bool
	at                    float64
}

// listed is the values of an enum.
type listed struct {
	texts   map[string]struct{} // without a backslash, as the names of members
	numbers map[int64]struct{}
	other   [3]bool // null, false, true
}

// accepts checks the keywords in the compiler's order.
func (n *node) accepts(v wire.Value, left *budget) bool {
	switch {
	case n == nil || n.any:
		return true
	case n.unsure:
		return false
	case n.either != nil:
		branch := n.branch(v.Type())
		return branch != nil && branch.accepts(v, left)
	case !n.types.admits(v.Type()) || n.listed != nil && !n.listed.has(v):
		return false
	}
	switch v.Type() {
	case wire.TypeObject:
		return n.acceptsMembers(v, left)
	case wire.TypeArray:
		return n.acceptsItems(v, left)
	case wire.TypeString:
		return n.shortest == 0 && n.longest < 0 || n.acceptsLength(v)
	case wire.TypeNumber:
		return n.acceptsNumber(v)
	default:
		return true
	}
}

// branch returns the alternative to try: the first that admits the type, and for oneOf only if no other does. It
// returns at most one, because nested alternatives would double the time at every level.
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

func (n *node) acceptsMembers(v wire.Value, left *budget) bool {
	if n.members.few == nil && n.rest == nil {
		return true
	}
	if !left.spend(v) {
		return false
	}
	missing := n.required
	for name, value := range v.Members() {
		text := inText(name)
		m := n.members.find(text)
		switch {
		case m == nil:
			if hasEscape(text) || !n.rest.accepts(value, left) {
				return false
			}
		case !m.node.accepts(value, left):
			return false
		case m.required:
			missing-- // the scan has refused a name that comes twice
		}
	}
	return missing == 0
}

func (n *node) acceptsItems(v wire.Value, left *budget) bool {
	if !left.spend(v) {
		return false
	}
	count := 0
	for item := range v.Elements() {
		if !n.items.accepts(item, left) {
			return false
		}
		count++
	}
	return count >= n.fewest && (n.mostItems < 0 || count <= n.mostItems)
}

// acceptsLength counts characters only if the number of bytes does not decide. It leaves escapes to the full check.
func (n *node) acceptsLength(v wire.Value) bool {
	const longestCharacter = len(`\ud83d\ude00`)
	text := inText(v)
	if (n.longest < 0 || len(text) <= n.longest) && (n.shortest <= 1 && len(text) >= n.shortest || len(text)/longestCharacter >= n.shortest) {
		return true
	}
	count := utf8.RuneCount(text)
	return !hasEscape(text) && count >= n.shortest && (n.longest < 0 || count <= n.longest)
}

// acceptsNumber leaves exponents and long numbers to the full check.
func (n *node) acceptsNumber(v wire.Value) bool {
	f, whole, exact, ok := readNumber(v.Raw())
	if !ok || !whole && n.types != 0 && n.types&typeBit(wire.TypeNumber) == 0 {
		return false
	}
	return n.least.below(f, exact) && n.most.below(-f, exact)
}

// readNumber returns the float64 nearest to a number, and whether the number is whole and exactly that. Up to 15 digits and
// their powers of ten are exact in a float64, so the quotient is the nearest one. ok is false for longer numbers and exponents.
func readNumber(raw []byte) (f float64, whole, exact, ok bool) {
	const exactDigits = 15
	digits := raw
	if digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) > exactDigits {
		return 0, false, false, false
	}
	var n, unit int64 = 0, 0 // unit is the power of ten to divide by, 0 before the point
	whole = true
	for _, c := range digits {
		switch {
		case '0' <= c && c <= '9':
			n = n*10 + int64(c-'0')
			unit *= 10
			whole = whole && (unit == 0 || c == '0')
		case c == '.':
			unit = 1
		default:
			return 0, false, false, false
		}
	}
	f = float64(n)
	if unit > 0 {
		f /= float64(unit)
	}
	if raw[0] == '-' {
		f = -f
	}
	return f, whole, whole, true
}

// below reports whether the bound is certainly below f, the float64 nearest to a number. Rounding keeps the order of numbers but may
// make them equal. Upper bounds are stored negated.
func (b bound) below(f float64, exact bool) bool {
	return !b.set || f > b.at || f == b.at && !b.exclusive && exact && b.exact
}

func (l *listed) has(v wire.Value) bool {
	switch v.Type() {
	case wire.TypeString:
		_, ok := l.texts[string(inText(v))]
		return ok
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

// inText returns the text between the quotes, with its escapes.
func inText(v wire.Value) []byte {
	raw := v.Raw()
	return raw[1 : len(raw)-1]
}

func hasEscape(text []byte) bool { return bytes.IndexByte(text, '\\') >= 0 }
