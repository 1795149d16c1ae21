package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// The bounds of a file. Its author is an operator, but a slip of an operator's script must not take the gateway down.
const (
	maxBytes = 1 << 20
	maxLine  = 8 << 10 // a line nests no deeper than it is long
	maxFlow  = 64      // brackets inside brackets
	maxNodes = 100_000 // values, those behind an alias counted each time
)

// reader walks the tree of one file and collects what is wrong with it.
type reader struct {
	file     string
	lines    []string
	getenv   func(string) string
	open     func(name string) ([]byte, error) // for files that this one names
	anchors  map[string]ast.Node
	nodes    int
	problems []Problem
}

func newReader(file string, data []byte, s Source) *reader {
	return &reader{
		file: file, lines: strings.Split(string(data), "\n"), getenv: s.Getenv, open: s.ReadFile, anchors: map[string]ast.Node{},
	}
}

// document reads the one mapping that a file consists of.
func (r *reader) document(data []byte, of string, keys []key) {
	root, ok := r.parse(data)
	if !ok {
		return
	}
	if root == nil {
		r.whole(mistake("it begins with version: 1", "the file is empty"))
		return
	}
	mapping(of, func() []key { return keys }).read(r, root)
}

// result returns what was wrong, nil if nothing was.
func (r *reader) result() error {
	if len(r.problems) == 0 {
		return nil
	}
	return &Error{Problems: r.problems}
}

// parse returns the root of the tree, nil of an empty file. ok is false if it is no YAML, and that was told.
func (r *reader) parse(data []byte) (root ast.Node, ok bool) {
	defer func() {
		if v := recover(); v != nil { // a file that the parser chokes on is a bad file, not the end of a running gateway
			r.whole(mistake("simplify it, or write it as JSON", "the file cannot be read as YAML"))
			root, ok = nil, false
		}
	}()
	if m := r.tooMuch(data); m != nil {
		r.whole(m)
		return nil, false
	}
	tokens := lexer.Tokenize(string(data))
	if r.tooDeep(tokens) {
		return nil, false
	}
	f, err := parser.Parse(tokens, 0)
	if err != nil {
		r.syntax(err)
		return nil, false
	}
	return r.only(f)
}

func (r *reader) tooMuch(data []byte) *Mistake {
	if len(data) > maxBytes {
		return mistake("split it into several gateways, or move rules into profiles", "the file is larger than %d KiB", maxBytes>>10)
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return mistake("save it as UTF-8 text", "the file is no text")
	}
	for i, line := range r.lines {
		if len(line) > maxLine {
			return mistake("break it into several", "line %d is longer than %d bytes", i+1, maxLine)
		}
	}
	return nil
}

func (r *reader) tooDeep(tokens token.Tokens) bool {
	depth := 0
	for _, t := range tokens {
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		default:
		}
		if depth > maxFlow {
			r.at(t, mistake("nothing in this file needs that", "more than %d brackets inside each other", maxFlow))
			return true
		}
	}
	return false
}

// only returns the root of the one document that a file may hold.
func (r *reader) only(f *ast.File) (ast.Node, bool) {
	var root ast.Node
	for _, d := range f.Docs {
		if d.Body == nil {
			continue
		}
		if root != nil {
			r.fail(d.Body, mistake("remove the line with three dashes", "the file holds more than one document"))
			return nil, false
		}
		root = d.Body
	}
	return root, true
}

// syntax tells what the parser does not understand.
func (r *reader) syntax(err error) {
	var y yaml.Error
	if !errors.As(err, &y) || y.GetToken() == nil {
		r.whole(mistake("check it with a YAML tool", "the file is no YAML: %s", err))
		return
	}
	text, hint := y.GetMessage(), "check the indentation, and put quotes around texts with : # [ or {"
	if strings.Contains(text, "already defined") {
		text, hint = fmt.Sprintf("the key %s stands there twice", quote(y.GetToken().Value)), "keep one of them"
	}
	r.at(y.GetToken(), mistake(hint, "%s", text))
}

// whole tells a problem of the file as a whole.
func (r *reader) whole(m *Mistake) { r.add(Problem{Text: m.Text, Hint: m.Hint}) }

// fail tells a problem of a value.
func (r *reader) fail(n ast.Node, err error) { r.at(n.GetToken(), err) }

// hide tells a problem of a value that may be a secret: the line is not shown.
func (r *reader) hide(n ast.Node, m *Mistake) {
	p := place(n.GetToken())
	p.Text, p.Hint = m.Text, m.Hint
	r.add(p)
}

func (r *reader) at(t *token.Token, err error) {
	p := place(t)
	p.Text = err.Error()
	if m, ok := errors.AsType[*Mistake](err); ok {
		p.Text, p.Hint = m.Text, m.Hint
	}
	if p.Line > 0 && p.Line <= len(r.lines) {
		p.Source = shown(r.lines[p.Line-1])
	}
	r.add(p)
}

func place(t *token.Token) Problem {
	if t == nil || t.Position == nil {
		return Problem{}
	}
	return Problem{Line: t.Position.Line, Column: t.Position.Column}
}

func (r *reader) add(p Problem) {
	if p.File == "" {
		p.File = r.file
	}
	if len(r.problems) < MaxProblems {
		r.problems = append(r.problems, p)
	}
}

// resolve follows anchors and aliases to the value itself. It returns nil if there is none to be had, and that was told.
func (r *reader) resolve(n ast.Node) ast.Node {
	for range maxFlow {
		if r.nodes++; r.nodes > maxNodes {
			if r.nodes == maxNodes+1 {
				r.fail(n, mistake("use fewer aliases", "the file says too much: more than %d values, those behind an alias counted each time", maxNodes))
			}
			return nil
		}
		switch v := n.(type) {
		case *ast.AnchorNode:
			r.anchors[v.Name.String()] = v.Value
			n = v.Value
		case *ast.AliasNode:
			target, ok := r.anchors[v.Value.String()]
			if !ok {
				r.fail(n, mistake("an anchor stands before its aliases", "there is no anchor %s", quote(v.Value.String())))
				return nil
			}
			n = target
		case *ast.TagNode:
			r.fail(n, mistake("leave it out", "a tag means nothing here"))
			return nil
		default:
			return n
		}
	}
	r.fail(n, mistake("an anchor cannot hold itself", "the alias runs in a circle"))
	return nil
}

// pairs returns the keys and values of a mapping in their order; ok is false if n is none.
func pairs(n ast.Node) (all []*ast.MappingValueNode, ok bool) {
	switch v := n.(type) {
	case *ast.MappingNode:
		return v.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{v}, true
	default:
		return nil, false
	}
}

// name returns the text of a key; ok is false if it is no plain word, and that was told.
func (r *reader) name(k ast.MapKeyNode) (name string, ok bool) {
	switch k.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.BoolNode, *ast.FloatNode, *ast.NullNode:
		return k.GetToken().Value, true
	case *ast.MergeKeyNode:
		r.fail(k, mistake("write the keys out, or use an alias for a whole value", "a merge (<<) is not read"))
	default:
		r.fail(k, mistake("a key is a plain word", "this cannot be a key"))
	}
	return "", false
}

// describe names the kind of a value as a person would.
func describe(n ast.Node) string {
	switch n.(type) {
	case *ast.NullNode:
		return "nothing"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.BoolNode:
		return "true or false"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	default:
		return "a text"
	}
}
