package clientconfig

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
	"github.com/tailscale/hujson"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// parseJSONC parses JSON with comments and trailing commas. An empty text is an empty table.
func parseJSONC(src []byte) (*node, error) {
	text, marked := bytes.CutPrefix(src, byteOrderMark)
	if len(bytes.TrimSpace(text)) == 0 {
		return &node{kind: kindTable}, nil
	}
	if marked { // spaces keep the offsets
		text = append([]byte("   "), text...)
	}
	if at := tooDeep(text); at >= 0 {
		return nil, syntaxError(text, at, "nested too deeply")
	}
	v, err := hujson.Parse(text)
	if err != nil {
		e := &SyntaxError{Problem: strings.TrimPrefix(err.Error(), "hujson: ")}
		if n, _ := fmt.Sscanf(e.Problem, "line %d, column %d:", &e.Line, &e.Column); n == 2 {
			_, e.Problem, _ = strings.Cut(e.Problem, ": ")
		}
		return nil, e
	}
	return jsonNode(&v), nil
}

// maxDepth bounds the nesting of JSON, because its parser needs stack for each level. That of TOML has the same limit.
const maxDepth = 10_000

// jsonToken matches a string or a comment, with all brackets in it, or else one bracket.
var jsonToken = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|[\[{\]}]`)

// tooDeep returns the offset at which brackets nest too deeply, or -1.
func tooDeep(text []byte) int {
	depth := 0
	for pos := 0; ; {
		at := jsonToken.FindIndex(text[pos:])
		if at == nil {
			return -1
		}
		switch text[pos+at[0]] {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		if pos += at[1]; depth > maxDepth {
			return pos - 1
		}
	}
}

func jsonNode(v *hujson.Value) *node {
	n := &node{start: v.StartOffset, end: v.EndOffset}
	switch of := v.Value.(type) {
	case hujson.Literal:
		n.text = string(of)
		if of.Kind() == '"' {
			n.kind, n.text = kindString, of.String()
		}
	case *hujson.Array:
		n.kind = kindArray
		for i := range of.Elements {
			n.items = append(n.items, jsonNode(&of.Elements[i]))
		}
	case *hujson.Object:
		n.kind = kindTable
		for i := range of.Members {
			m := &of.Members[i]
			n.members = append(n.members, &member{name: jsonNode(&m.Name).text, start: m.Name.StartOffset, value: jsonNode(&m.Value)})
		}
	}
	return n
}

// parseTOML parses a TOML document. A table of an array of tables is not attached to the tree: no server is in one.
func parseTOML(src []byte) (*node, error) {
	text, marked := bytes.CutPrefix(src, byteOrderMark)
	var ignored map[string]any
	if err := toml.Unmarshal(text, &ignored); err != nil { // the parser below checks neither values nor repeated keys
		e := &SyntaxError{Line: 1, Column: 1, Problem: err.Error()}
		if at := (*toml.DecodeError)(nil); errors.As(err, &at) {
			e.Line, e.Column = at.Position()
			e.Problem = strings.TrimPrefix(at.Error(), "toml: ")
		}
		return nil, e
	}
	p := &tomlParser{src: src, root: &node{kind: kindTable}}
	if marked {
		p.base = len(byteOrderMark)
	}
	p.Reset(text)
	table := p.root
	for p.NextExpression() {
		switch e := p.Expression(); e.Kind {
		case unstable.Table:
			table = p.table(p.root, e.Key())
		case unstable.ArrayTable:
			table = &node{kind: kindTable}
		case unstable.KeyValue:
			p.keyValue(table, e, false)
		}
	}
	return p.root, p.Error()
}

type tomlParser struct {
	unstable.Parser
	src  []byte
	base int // offset of the parsed text in src
	root *node
}

// start and end are the offsets of a part of the text.
func (p *tomlParser) start(r unstable.Range) int { return p.base + int(r.Offset) }
func (p *tomlParser) end(r unstable.Range) int   { return p.start(r) + int(r.Length) }

// table returns the table at a path, which it creates if necessary. The document is valid, so every part of the path is a table.
func (p *tomlParser) table(n *node, path unstable.Iterator) *node {
	for path.Next() {
		key := path.Node()
		next := n.child(string(key.Data))
		if next == nil {
			next = &node{kind: kindTable}
			n.members = append(n.members, &member{name: string(key.Data), start: p.start(key.Raw), value: next})
		}
		n = next
	}
	return n
}

// keyValue adds a line, or a member of an inline table, to a table.
func (p *tomlParser) keyValue(into *node, e *unstable.Node, inline bool) {
	start := p.start(e.Raw)
	keys := e.Key()
	var last *unstable.Node
	for keys.Next() {
		if last != nil {
			next := into.child(string(last.Data))
			if next == nil {
				next = &node{kind: kindTable}
				into.members = append(into.members, &member{name: string(last.Data), start: start, value: next})
			}
			into = next
		}
		last = keys.Node()
	}
	after := p.end(last.Raw)
	equals := after + bytes.IndexByte(p.src[after:], '=') + 1
	gap := len(p.src[equals:]) - len(bytes.TrimLeft(p.src[equals:], " \t"))
	value := p.value(e.Value())
	value.start, value.end = equals+gap, p.end(e.Raw)
	into.members = append(into.members, &member{
		name: string(last.Data), start: start, prefix: string(p.src[start:p.start(last.Raw)]), inline: inline, value: value,
	})
}

func (p *tomlParser) value(v *unstable.Node) *node {
	n := &node{text: string(v.Data), start: p.start(v.Raw), end: p.end(v.Raw)}
	children := v.Children()
	switch v.Kind {
	case unstable.String:
		n.kind = kindString
	case unstable.Array:
		n.kind = kindArray
		for children.Next() {
			n.items = append(n.items, p.value(children.Node()))
		}
	case unstable.InlineTable:
		n.kind = kindTable
		for children.Next() {
			p.keyValue(n, children.Node(), true)
		}
	}
	return n
}

// SyntaxError is text that is not valid in the format of the file.
type SyntaxError struct {
	Line, Column int // from 1
	Problem      string
}

// Error returns the position and the problem.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Problem)
}

// syntaxError returns the error at an offset of the text.
func syntaxError(src []byte, pos int, problem string) *SyntaxError {
	before := src[:min(pos, len(src))]
	return &SyntaxError{1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n'), problem}
}
