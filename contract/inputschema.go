package contract

import (
	"strings"

	"github.com/candor-mcp/candor/wire"
)

// inputSchema answers questions about a tool's arguments from the tool's schema. The schema is searched on first use, because most
// failures do not need it. The zero inputSchema is unknown.
type inputSchema struct {
	schema, args wire.Value

	searched bool
	names    map[string]bool // names of all properties at any depth, folded; empty if the schema declares none
	tails    map[string]bool // the last words of those names, such as id for projectId

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
	s.names, s.tails = make(map[string]bool), make(map[string]bool)
	nodes := maxSchemaNodes
	s.collect(s.schema, &nodes, maxSchemaDepth)
}

// collect records the names under every "properties" member, at any depth.
func (s *inputSchema) collect(v wire.Value, nodes *int, depth int) {
	if depth == 0 {
		return
	}
	switch v.Type() {
	case wire.TypeArray:
		for e := range v.Elements() {
			if *nodes--; *nodes < 0 {
				return
			}
			s.collect(e, nodes, depth-1)
		}
	case wire.TypeObject:
		for name, member := range v.Members() {
			if *nodes--; *nodes < 0 {
				return
			}
			if name.Is("properties") {
				s.takeNames(member)
			}
			s.collect(member, nodes, depth-1)
		}
	case wire.TypeAbsent, wire.TypeNull, wire.TypeBool, wire.TypeNumber, wire.TypeString:
	}
}

func (s *inputSchema) takeNames(properties wire.Value) {
	for name := range properties.Members() {
		key, _ := name.Str()
		s.names[foldName(key)] = true
		if words := splitName(key); len(words) > 0 {
			s.tails[words[len(words)-1]] = true
		}
	}
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
	return len(s.names) > 0 && s.names[foldName(name)]
}

// hasTail reports whether there is a property whose name ends in that word.
func (s *inputSchema) hasTail(word string) bool {
	s.search()
	return s.tails[word]
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

// foldName normalises a name, so that projectId, project_id and Project-ID are equal.
func foldName(name string) string {
	for i := range len(name) {
		if c := name[i]; c == '_' || c == '-' || c == ' ' || c >= 'A' && c <= 'Z' || c >= 0x80 {
			return strings.ToLower(nameSeparators.Replace(name))
		}
	}
	return name
}

var nameSeparators = strings.NewReplacer("_", "", "-", "", " ", "")

// fitOf returns fitNo if a required argument is missing, a value cannot be read as the declared type without loss, or a value is
// not in the enum. A deviation that many servers accept, such as a number as a string, gives fitUnknown.
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
	return fitNo
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

func isOfType(kind, value wire.Value) bool {
	switch t := value.Type(); {
	case kind.Is("string"):
		return t == wire.TypeString
	case kind.Is("number"), kind.Is("integer"):
		return t == wire.TypeNumber
	case kind.Is("boolean"):
		return t == wire.TypeBool
	case kind.Is("array"):
		return t == wire.TypeArray
	case kind.Is("object"):
		return t == wire.TypeObject
	case kind.Is("null"):
		return t == wire.TypeNull
	default:
		return true
	}
}
