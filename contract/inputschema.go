package contract

import (
	"slices"
	"strings"

	"github.com/candor-mcp/candor/internal/foreign"
	"github.com/candor-mcp/candor/internal/pointer"
	"github.com/candor-mcp/candor/wire"
)

// inputSchema answers questions about a tool's arguments from the tool's schema. The schema is searched on first use, because most
// failures do not need it. The zero inputSchema is unknown.
type inputSchema struct {
	schema, args wire.Value

	searched bool
	names    map[string][]string // the properties at any depth by their folded names; empty if the schema declares none
	tails    map[string]bool     // the last words of those names, such as id for projectId

	judged bool
	fitted fit
}

// fit is the result of checking the arguments of a call against the first level of the schema.
type fit uint8

const (
	fitUnknown fit = iota
	fitYes
	fitNo
)

// Limits of the search for names in a schema.
const (
	maxSchemaNodes = 4000
	maxSchemaDepth = 12
)

// search collects the names of the properties, once.
func (s *inputSchema) search() {
	if s.searched {
		return
	}
	s.searched = true
	if s.schema.Type() != wire.TypeObject {
		return
	}
	s.names, s.tails = make(map[string][]string), make(map[string]bool)
	nodes := maxSchemaNodes
	s.collect(s.schema, "", &nodes, maxSchemaDepth)
}

// inPlace are the keywords with schemas for the same value.
var inPlace = map[string]bool{"allOf": true, "anyOf": true, "oneOf": true, "if": true, "then": true, "else": true}

// unplaced is the pointer of a value that has none, such as an item of a list.
const unplaced = "-"

// collect records the properties of every schema inside v, at any depth. at is the pointer of the value that v describes.
func (s *inputSchema) collect(v wire.Value, at string, nodes *int, depth int) {
	if *nodes--; depth == 0 || *nodes < 0 {
		return
	}
	switch v.Type() {
	case wire.TypeArray:
		for e := range v.Elements() {
			s.collect(e, at, nodes, depth-1)
		}
	case wire.TypeObject:
		for name, member := range v.Members() {
			key, _ := name.Str()
			switch {
			case key == "properties":
				s.properties(member, at, nodes, depth-1)
			case inPlace[key]:
				s.collect(member, at, nodes, depth-1)
			default:
				s.collect(member, unplaced, nodes, depth-1)
			}
		}
	case wire.TypeAbsent, wire.TypeNull, wire.TypeBool, wire.TypeNumber, wire.TypeString:
	}
}

func (s *inputSchema) properties(list wire.Value, at string, nodes *int, depth int) {
	for name, member := range list.Members() {
		key, _ := name.Str()
		own := unplaced
		if at != unplaced {
			own = at + pointer.Of(key)
		}
		if folded := foreign.Fold(key); !slices.Contains(s.names[folded], own) {
			s.names[folded] = append(s.names[folded], own)
		}
		if words := splitName(key); len(words) > 0 {
			s.tails[words[len(words)-1]] = true
		}
		s.collect(member, own, nodes, depth-1)
	}
}

// place returns the pointer of the property with that name, ignoring case and separators. Of several it prefers one inside an object that
// was sent. It returns "" if there is none, or if all are in lists.
func (s *inputSchema) place(name string) string {
	s.search()
	best := ""
	for _, at := range s.names[foreign.Fold(name)] {
		if at == unplaced {
			continue
		}
		if best == "" {
			best = at
		}
		if s.sent(at[:strings.LastIndexByte(at, '/')]) {
			return at
		}
	}
	return best
}

// declares reports whether the arguments themselves have a property of exactly that name.
func (s *inputSchema) declares(name string) bool {
	return slices.Contains(s.names[foreign.Fold(name)], pointer.Of(name))
}

// sent reports whether the arguments hold a value at a pointer.
func (s *inputSchema) sent(at string) bool {
	v := s.args
	for _, step := range strings.Split(at, "/")[1:] {
		v = v.Path(pointer.Unescape(step))
	}
	return v.Present()
}

// known reports whether the schema declares properties. A schema without properties does not show which arguments the server
// reads.
func (s *inputSchema) known() bool {
	s.search()
	return len(s.names) > 0
}

// has reports whether there is a property of that name, ignoring case and separators.
func (s *inputSchema) has(name string) bool {
	s.search()
	return len(s.names) > 0 && len(s.names[foreign.Fold(name)]) > 0
}

// hasTail reports whether there is a property with a name that ends in that word.
func (s *inputSchema) hasTail(word string) bool {
	s.search()
	return s.tails[word]
}

// hasAnyTail reports whether there is a property with a name that ends in one of those words.
func (s *inputSchema) hasAnyTail(words map[string]bool) bool {
	s.search()
	for word := range s.tails {
		if words[word] {
			return true
		}
	}
	return false
}

// fit returns whether the arguments fit the schema, or fitUnknown without a schema.
func (s *inputSchema) fit() fit {
	if !s.judged {
		s.judged = true
		if s.schema.Type() == wire.TypeObject {
			s.fitted = fitOf(s.schema, s.args)
		}
	}
	return s.fitted
}

// fitOf returns fitNo if a required argument is missing or a value cannot be read as the declared type without loss. A deviation that
// many servers accept, such as a number as a string or a value that is not in the enum, gives fitUnknown.
func fitOf(schema, args wire.Value) fit {
	if args.Present() && args.Type() != wire.TypeObject {
		return fitNo
	}
	for name := range schema.Path("required").Elements() {
		key, ok := name.Str()
		if _, sent := args.Get(key); ok && !sent {
			return fitNo
		}
	}
	properties := schema.Path("properties")
	closed, isFlag := schema.Path("additionalProperties").Bool()
	whole := fitYes
	for name, value := range args.Members() {
		key, _ := name.Str()
		declared, ok := properties.Get(key)
		switch {
		case !ok && isFlag && !closed:
			whole = fitUnknown
		case ok:
			switch fitOfValue(declared, value) {
			case fitNo:
				return fitNo
			case fitUnknown:
				whole = fitUnknown
			case fitYes:
			}
		}
	}
	return whole
}

// fitOfValue checks a value against the declared type and enum. Other keywords are ignored.
func fitOfValue(declared, value wire.Value) fit {
	if kind := declared.Path("type"); kind.Type() == wire.TypeString && !isOfType(kind, value) {
		if readsAs(kind, value) {
			return fitUnknown
		}
		return fitNo
	}
	choice := declared.Path("enum")
	if choice.Type() != wire.TypeArray {
		return fitYes
	}
	for one := range choice.Elements() {
		if string(one.Raw()) == string(value.Raw()) {
			return fitYes
		}
	}
	return fitUnknown
}

// readsAs reports whether a value of another type can be converted to the declared one without loss, as lenient validators do.
func readsAs(kind, value wire.Value) bool {
	switch value.Type() {
	case wire.TypeNull:
		return true
	case wire.TypeNumber, wire.TypeBool:
		return kind.Is("string")
	case wire.TypeString:
	default:
		return false
	}
	text, _ := value.Str()
	inner, err := wire.ParseValue([]byte(text), wire.Limits{})
	return err == nil && isOfType(kind, inner)
}

// types are the JSON types by their names in a schema.
var types = map[string]wire.Type{
	"string": wire.TypeString, "number": wire.TypeNumber, "integer": wire.TypeNumber, "boolean": wire.TypeBool,
	"array": wire.TypeArray, "object": wire.TypeObject, "null": wire.TypeNull,
}

func isOfType(kind, value wire.Value) bool {
	name, _ := kind.Str()
	t, known := types[name]
	return !known || value.Type() == t
}
