package workflow

import (
	"encoding/json"

	"github.com/goccy/go-yaml/token"

	"github.com/candor-mcp/candor/cmd/internal/jsonvalue"
)

// kind is the JSON type of a node.
type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindString
	kindList
	kindMapping
)

// node is a value of the file and its position. YAML and JSON files become the same tree.
type node struct {
	kind  kind
	at    *token.Token
	text  string // of a string or a number
	truth bool   // of a bool
	items []*node
	pairs []pair
}

// pair is a key of a mapping and its value.
type pair struct {
	name  string
	at    *token.Token
	value *node
}

// describe returns the kind in the words of a problem.
func (n *node) describe() string {
	switch n.kind {
	case kindNull:
		return "nothing"
	case kindBool:
		return "true or false"
	case kindNumber:
		return "a number"
	case kindString:
		return "text"
	case kindList:
		return "a list"
	case kindMapping:
		return "a mapping"
	default:
		return "an unknown value"
	}
}

// value returns the node as package jsonvalue has it.
func (n *node) value() any {
	switch n.kind {
	case kindBool:
		return n.truth
	case kindNumber:
		return json.Number(n.text)
	case kindString:
		return n.text
	case kindList:
		list := make([]any, 0, len(n.items))
		for _, item := range n.items {
			list = append(list, item.value())
		}
		return list
	case kindMapping:
		object := make(map[string]any, len(n.pairs))
		for _, p := range n.pairs {
			object[p.name] = p.value.value()
		}
		return object
	default:
		return nil
	}
}

// raw returns the node as canonical JSON.
func (n *node) raw() (json.RawMessage, error) { return jsonvalue.Append(nil, n.value()) }

// builder builds the tree of one file. It counts nodes, because a few aliases can expand to very many.
type builder struct {
	*reader
	nodes int
}

// count reports whether one more node is allowed at that depth. It reports a problem for the first that is not.
func (b *builder) count(at *token.Token, depth int) bool {
	b.nodes++
	switch {
	case depth > maxTreeDepth:
		b.fail(at, "use fewer levels", "more than %d values inside each other", maxTreeDepth)
	case b.nodes == maxNodes+1:
		b.fail(at, "split the workflow, or use fewer aliases", "more than %d values, those behind an alias counted each time", maxNodes)
	case b.nodes <= maxNodes:
		return true
	}
	return false
}

// number returns out as a number; nil if its value is out of range.
func (b *builder) number(out *node, text string) *node {
	out.kind, out.text = kindNumber, text
	if !jsonvalue.IsNumber(json.Number(text)) {
		b.fail(out.at, "put quotes around it if it is text", "number %s: out of range", quote(text))
		return nil
	}
	return out
}

// add appends a pair to a mapping, unless the mapping already has its name.
func (b *builder) add(n *node, seen map[string]bool, p pair) {
	if seen[p.name] {
		b.fail(p.at, "keep one of them", "key %s appears twice", quote(p.name))
		return
	}
	seen[p.name] = true
	n.pairs = append(n.pairs, p)
}
