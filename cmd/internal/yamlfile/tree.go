package yamlfile

import (
	"bytes"
	"errors"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// The bounds of every file.
const (
	MaxLine = 8 << 10 // bytes; a line nests no deeper than it is long
	MaxFlow = 64      // brackets inside brackets, and dashes on one line: lists inside lists, which take a parser long
)

// Form is what is particular to one kind of file.
type Form struct {
	MaxBytes int
	Large    string // the hint for a file that is larger
	Quoted   string // which values are in need of quotes, to end the hint for a file that is no YAML
}

// Parse returns the root of the one document that a file may hold, nil of an empty file. ok is false if the file breaks a bound or is no
// YAML, and that was told.
func (r *Report) Parse(data []byte, f Form) (root ast.Node, ok bool) {
	if m := r.tooMuch(data, f); m != nil {
		r.Whole(m)
		return nil, false
	}
	tokens := lexer.Tokenize(string(data))
	if r.tooDeep(tokens) {
		return nil, false
	}
	tree, err := parser.Parse(tokens, 0)
	if err != nil {
		r.Syntax(err, f)
		return nil, false
	}
	return r.only(tree)
}

func (r *Report) tooMuch(data []byte, f Form) *Mistake {
	if len(data) > f.MaxBytes {
		return NewMistake(f.Large, "the file is larger than %d KiB", f.MaxBytes>>10)
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return NewMistake("save it as UTF-8 text", "the file is no text")
	}
	for i, line := range r.lines {
		if len(line) > MaxLine {
			return NewMistake("break it into several", "line %d is longer than %d bytes", i+1, MaxLine)
		}
	}
	return nil
}

// tooDeep refuses what would lead a parser deep down, before it goes there.
func (r *Report) tooDeep(tokens token.Tokens) bool {
	brackets, dashes, line := 0, 0, 0
	for _, t := range tokens {
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			brackets++
		case token.MappingEndType, token.SequenceEndType:
			brackets--
		case token.SequenceEntryType:
			if t.Position.Line != line {
				line, dashes = t.Position.Line, 0
			}
			dashes++
		default:
		}
		switch {
		case brackets > MaxFlow:
			return r.nested(t, "brackets")
		case dashes > MaxFlow:
			return r.nested(t, "lists")
		}
	}
	return false
}

func (r *Report) nested(t *token.Token, what string) bool {
	r.At(t, NewMistake("nothing in this file needs that", "more than %d %s inside each other", MaxFlow, what))
	return true
}

// only returns the root of the one document that a file may hold.
func (r *Report) only(f *ast.File) (ast.Node, bool) {
	var root ast.Node
	for _, d := range f.Docs {
		if d.Body == nil {
			continue
		}
		if root != nil {
			r.At(d.Body.GetToken(), NewMistake("remove the line with three dashes", "the file holds more than one document"))
			return nil, false
		}
		root = d.Body
	}
	return root, true
}

// Syntax tells what the reader of YAML does not understand.
func (r *Report) Syntax(err error, f Form) {
	t, text := Complaint(err)
	switch {
	case t == nil:
		r.Whole(NewMistake("check it with a YAML tool", "the file is no YAML: %s", err))
	case strings.Contains(text, "already defined"):
		r.At(t, NewMistake("keep one of them", "the key %s stands there twice", Quote(t.Value)))
	default:
		r.At(t, NewMistake("check the indentation, and put quotes around "+f.Quoted, "%s", text))
	}
}

// Complaint returns what the reader of YAML says in its error, and where; the token is nil if it does not say where.
func Complaint(err error) (at *token.Token, text string) {
	var y yaml.Error
	if !errors.As(err, &y) || y.GetToken() == nil {
		return nil, ""
	}
	return y.GetToken(), y.GetMessage()
}

// Place returns where a token stands, from 1; 0 if that is not known.
func Place(t *token.Token) (line, column int) {
	if t == nil || t.Position == nil {
		return 0, 0
	}
	return t.Position.Line, t.Position.Column
}

// Pairs returns the keys and values of a mapping in their order; ok is false if n is none.
func Pairs(n ast.Node) (all []*ast.MappingValueNode, ok bool) {
	switch v := n.(type) {
	case *ast.MappingNode:
		return v.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{v}, true
	default:
		return nil, false
	}
}
