package workflow

import (
	"encoding/json"
	"fmt"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/candor-mcp/candor/cmd/internal/jsonvalue"
	"github.com/candor-mcp/candor/cmd/internal/yamlfile"
)

var form = yamlfile.Form{
	MaxBytes: MaxBytes, Large: "split it into several workflows", Quoted: "texts that contain : # [ or {",
}

// yamlBuilder makes the tree of a YAML file.
type yamlBuilder struct {
	builder
	anchors map[string]*node
}

// parseYAML returns the root of the file; nil if there are problems.
func (r *reader) parseYAML(data []byte) *node {
	tree, ok := r.errors.Parse(data, form)
	if !ok {
		return nil
	}
	if tree == nil {
		r.errors.Whole(yamlfile.NewMistake("a workflow begins with id: and name:", "file: empty"))
		return nil
	}
	b := &yamlBuilder{builder: builder{reader: r}, anchors: map[string]*node{}}
	return b.build(tree, 0)
}

// build returns the node for a value, nil if there is a problem.
func (b *yamlBuilder) build(n ast.Node, depth int) *node {
	if n == nil || !b.count(n.GetToken(), depth) {
		return nil
	}
	out := &node{at: n.GetToken()}
	switch v := n.(type) {
	case *ast.NullNode:
	case *ast.BoolNode:
		out.kind, out.truth = kindBool, v.Value
	case *ast.StringNode:
		out.kind, out.text = kindString, v.Value
	case *ast.LiteralNode:
		out.kind, out.text = kindString, v.Value.Value
	case *ast.IntegerNode:
		return b.yamlNumber(out, fmt.Sprint(v.Value))
	case *ast.FloatNode:
		text, _ := json.Marshal(v.Value)
		return b.yamlNumber(out, string(text))
	case *ast.SequenceNode:
		return b.list(out, v, depth)
	case *ast.MappingNode, *ast.MappingValueNode:
		return b.mapping(out, n, depth)
	case *ast.AnchorNode:
		if out = b.build(v.Value, depth+1); out != nil {
			b.anchors[v.Name.String()] = out
		}
	case *ast.AliasNode:
		return b.alias(v, depth)
	default:
		b.fail(out.at, "use text, numbers, true, false, lists and mappings", "value has no JSON form")
		return nil
	}
	return out
}

// yamlNumber keeps the digits of the file if they are a JSON number, and otherwise uses the value that YAML gives them,
// as for 0x10.
func (b *yamlBuilder) yamlNumber(out *node, value string) *node {
	if jsonvalue.IsNumber(json.Number(out.at.Value)) {
		value = out.at.Value
	}
	return b.number(out, value)
}

func (b *yamlBuilder) list(out *node, list *ast.SequenceNode, depth int) *node {
	out.kind = kindList
	for _, v := range list.Values {
		item := b.build(v, depth+1)
		if item == nil {
			return nil
		}
		out.items = append(out.items, item)
	}
	return out
}

func (b *yamlBuilder) mapping(out *node, n ast.Node, depth int) *node {
	out.kind = kindMapping
	pairs, _ := yamlfile.Pairs(n)
	if len(pairs) > 0 {
		out.at = pairs[0].Key.GetToken()
	}
	seen := make(map[string]bool, len(pairs))
	for _, p := range pairs {
		name, ok := b.name(p.Key)
		if !ok {
			return nil
		}
		value := b.build(p.Value, depth+1)
		if value == nil {
			return nil
		}
		b.add(out, seen, pair{name: name, at: p.Key.GetToken(), value: value})
	}
	return out
}

// name returns the text of a key.
func (b *yamlBuilder) name(k ast.MapKeyNode) (name string, ok bool) {
	switch k := k.(type) {
	case *ast.StringNode:
		return k.Value, true
	case *ast.IntegerNode, *ast.BoolNode, *ast.FloatNode, *ast.NullNode:
		return k.GetToken().Value, true
	case *ast.MergeKeyNode:
		b.fail(k.GetToken(), "write the keys out, or use an alias for a whole value", "merge keys (<<) are not supported")
	default:
		b.fail(keyToken(k), "use a plain word", "not a key")
	}
	return "", false
}

func keyToken(k ast.MapKeyNode) *token.Token {
	if k == nil {
		return nil
	}
	return k.GetToken()
}

// alias returns the value of an anchor. The nodes below it are counted again, so that aliases of aliases stay bounded.
func (b *yamlBuilder) alias(v *ast.AliasNode, depth int) *node {
	name := v.Value.String()
	target, ok := b.anchors[name]
	if !ok {
		b.fail(v.GetToken(), "define the anchor before it is used", "unknown anchor %s", quote(name))
		return nil
	}
	if !b.recount(target, v.GetToken(), depth) {
		return nil
	}
	return target
}

func (b *yamlBuilder) recount(n *node, at *token.Token, depth int) bool {
	if !b.count(at, depth) {
		return false
	}
	for _, item := range n.items {
		if !b.recount(item, at, depth+1) {
			return false
		}
	}
	for _, p := range n.pairs {
		if !b.recount(p.value, at, depth+1) {
			return false
		}
	}
	return true
}
