package clientconfig

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/candor-mcp/candor/cmd/internal/yamlfile"
)

// parseYAML parses a file with one YAML document. Values that are no plain text, such as anchors, are of [kindOther].
func parseYAML(src []byte) (*node, error) {
	text, _ := bytes.CutPrefix(src, byteOrderMark)
	report := yamlfile.NewReport("", text)
	root, ok := report.Parse(text, yamlfile.Form{MaxBytes: maxFile, Large: "remove what is not needed", Quoted: "texts"})
	if !ok {
		e := &SyntaxError{Line: 1, Column: 1, Problem: "not valid YAML"}
		if found := (*yamlfile.Error)(nil); errors.As(report.Err(), &found) {
			first := found.Problems[0]
			e = &SyntaxError{max(1, first.Line), max(1, first.Column), first.Text}
		}
		return nil, e
	}
	if root == nil {
		return &node{kind: kindTable}, nil
	}
	r := &yamlReader{src: src, lines: []int{len(src) - len(text)}}
	for i, c := range src {
		if c == '\n' {
			r.lines = append(r.lines, i+1)
		}
	}
	return r.node(root), nil
}

// yamlReader finds the bytes of nodes: the offsets of the parser count characters, and not all of them.
type yamlReader struct {
	src   []byte
	lines []int // offsets of their beginnings
}

// offset returns where a token begins, or 0 if it is unknown.
func (r *yamlReader) offset(t *token.Token) int {
	line, column := yamlfile.Place(t)
	if line < 1 || line > len(r.lines) {
		return 0
	}
	at := r.lines[line-1]
	for ; column > 1 && at < len(r.src); column-- {
		_, size := utf8.DecodeRune(r.src[at:])
		at += size
	}
	return at
}

func (r *yamlReader) node(v ast.Node) *node {
	if pairs, ok := yamlfile.Pairs(v); ok {
		mapping, several := v.(*ast.MappingNode)
		return r.table(pairs, several && mapping.IsFlowStyle)
	}
	switch v := v.(type) {
	case *ast.StringNode:
		return r.string(v.Token)
	case *ast.SequenceNode:
		n := &node{kind: kindArray, start: r.offset(v.Start), block: !v.IsFlowStyle}
		for _, item := range v.Values {
			n.items = append(n.items, r.node(item))
			n.end = n.items[len(n.items)-1].end
		}
		if v.IsFlowStyle {
			n.end = r.offset(v.End) + 1
		}
		return n
	case *ast.LiteralNode:
		return &node{text: v.Value.Value}
	case ast.ScalarNode:
		return &node{text: v.GetToken().Value}
	}
	return &node{}
}

func (r *yamlReader) table(pairs []*ast.MappingValueNode, inline bool) *node {
	n := &node{kind: kindTable}
	for _, pair := range pairs {
		key := pair.Key.GetToken()
		n.members = append(n.members, &member{name: key.Value, start: r.offset(key), inline: inline, value: r.node(pair.Value)})
	}
	return n
}

// string returns a text that is written on one line; any other is of [kindOther].
func (r *yamlReader) string(t *token.Token) *node {
	n := &node{text: t.Value, start: r.offset(t)}
	rest := r.src[n.start:]
	length := len(t.Value)
	switch {
	case t.Type == token.DoubleQuoteType:
		for length = 1; length < len(rest) && rest[length] != '"'; length++ {
			if rest[length] == '\\' {
				length++
			}
		}
		length++
	case t.Type == token.SingleQuoteType:
		length = len(t.Value) + strings.Count(t.Value, "'") + len("''")
	case !bytes.HasPrefix(rest, []byte(t.Value)):
		return n
	}
	if length <= len(rest) && !bytes.ContainsAny(rest[:length], "\r\n") {
		n.kind, n.end = kindString, n.start+length
	}
	return n
}
