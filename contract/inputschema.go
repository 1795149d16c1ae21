package contract

import (
	"strings"

	"github.com/candor-mcp/candor/wire"
)

// inputSchema answers questions about a tool's arguments from its own schema. The schema is searched when the first question comes: most
// failures ask none. The zero inputSchema is unknown.
type inputSchema struct {
	schema, args wire.Value

	searched bool
	names    map[string]bool // of all properties at any depth, folded; empty if the schema declares none
	tails    map[string]bool // the last words of those names: id of projectId

	judged bool
	fitted fit
}

// fit says whether the arguments of a call fit the schema, by a look at the first level only.
type fit uint8

const (
	fitUnknown fit = iota
	fitYes
	fitNo
)

// Bounds of a schema that is searched for names.
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

// collect takes in the names under every "properties", wherever it stands.
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

// known reports a schema that declares properties. One that declares none says nothing about what the server reads.
func (s *inputSchema) known() bool {
	s.search()
	return len(s.names) > 0
}

// has reports a property of that name, however it is spelled.
func (s *inputSchema) has(name string) bool {
	s.search()
	return len(s.names) > 0 && s.names[foldName(name)]
}

// hasTail reports a property whose name ends in that word.
func (s *inputSchema) hasTail(word string) bool {
	s.search()
	return s.tails[word]
}

// fit says whether the arguments fit; fitUnknown without a schema.
func (s *inputSchema) fit() fit {
	if !s.judged {
		s.judged = true
		if s.schema.Type() == wire.TypeObject {
			s.fitted = fitOf(s.schema, s.args)
		}
	}
	return s.fitted
}

// foldName makes projectId, project_id and Project-ID the same.
func foldName(name string) string {
	for i := range len(name) {
		if c := name[i]; c == '_' || c == '-' || c == ' ' || c >= 'A' && c <= 'Z' || c >= 0x80 {
			return strings.ToLower(nameSeparators.Replace(name))
		}
	}
	return name
}

var nameSeparators = strings.NewReplacer("_", "", "-", "", " ", "")

// fitOf looks for what cannot fit: a required argument that is missing, a value that has no lossless reading as the declared type, and one
// that is not among the choices. Deviations that many servers accept prove nothing: a text that fails with them fails without them, too.
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

// fitOfValue looks at the declared type and choice. What is declared in other words is not judged.
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

// readsAs reports whether a value of another type can be read as the declared one without loss, as lenient validation has it.
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
