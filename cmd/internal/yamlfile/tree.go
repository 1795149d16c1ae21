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

// The limits of every file.
const (
	MaxLine = 8 << 10 // bytes of a line, which also limit its nesting
	MaxFlow = 64      // nested brackets, and dashes on one line (nested lists), which are slow to parse

	// MaxTokens limits the keys, values and marks, such as colons, brackets and commas. Each costs about 500 bytes of memory.
	MaxTokens = 100_000
)

// Form has the limits and hints of one kind of file.
type Form struct {
	MaxBytes int
	Large    string // hint for a larger file
	Quoted   string // values that need quotes, for the hint for invalid YAML
}

// Parse returns the root of the only document of a file, nil for an empty file. ok is false if the file exceeds a limit or is not valid YAML;
// the problem is then in the report.
func (r *Report) Parse(data []byte, f Form) (root ast.Node, ok bool) {
	if m := r.tooMuch(data, f); m != nil {
		r.Whole(m)
		return nil, false
	}
	tokens := tokenize(data)
	if len(tokens) > MaxTokens {
		r.Whole(NewMistake(f.Large, "the file has more than %d keys, values and marks", MaxTokens))
		return nil, false
	}
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

// tokenize returns the tokens of a file, or more than [MaxTokens] of its beginning. The lexer cannot stop early, so that
// it reads a longer and longer part, until the part has too many.
func tokenize(data []byte) token.Tokens {
	for n := 64 << 10; n < len(data); n *= 2 {
		if tokens := lexer.Tokenize(string(data[:n])); len(tokens) > MaxTokens {
			return tokens
		}
	}
	return lexer.Tokenize(string(data))
}

func (r *Report) tooMuch(data []byte, f Form) *Mistake {
	if len(data) > f.MaxBytes {
		return NewMistake(f.Large, "the file is larger than %d KiB", f.MaxBytes>>10)
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return NewMistake("save it as UTF-8 text", "the file is not text")
	}
	for i, line := range r.lines {
		if len(line) > MaxLine {
			return NewMistake("break it into several lines", "line %d is longer than %d bytes", i+1, MaxLine)
		}
	}
	return nil
}

// tooDeep reports deep nesting before the parser recurses into it.
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
	r.At(t, NewMistake("reduce the nesting", "more than %d nested %s", MaxFlow, what))
	return true
}

// only returns the root of the only document.
func (r *Report) only(f *ast.File) (ast.Node, bool) {
	var root ast.Node
	for _, d := range f.Docs {
		if d.Body == nil {
			continue
		}
		if root != nil {
			r.At(d.Body.GetToken(), NewMistake("remove the line with three dashes", "the file has more than one document"))
			return nil, false
		}
		root = d.Body
	}
	return root, true
}

// Syntax adds the problem of a syntax error.
func (r *Report) Syntax(err error, f Form) {
	t, text := Complaint(err)
	switch {
	case t == nil:
		r.Whole(NewMistake("check it with a YAML tool", "the file is not valid YAML: %s", err))
	case strings.Contains(text, "already defined"):
		r.At(t, NewMistake("keep one of them", "duplicate key %s", Quote(t.Value)))
	default:
		r.At(t, NewMistake("check the indentation, and put quotes around "+f.Quoted, "%s", text))
	}
}

// Complaint returns the position and the message of a YAML error; the token is nil if the position is unknown.
func Complaint(err error) (at *token.Token, text string) {
	var y yaml.Error
	if !errors.As(err, &y) || y.GetToken() == nil {
		return nil, ""
	}
	return y.GetToken(), y.GetMessage()
}

// Place returns the position of a token from 1, 0 if it is unknown.
func Place(t *token.Token) (line, column int) {
	if t == nil || t.Position == nil {
		return 0, 0
	}
	return t.Position.Line, t.Position.Column
}

// Pairs returns the keys and values of a mapping in order; ok is false if n is not a mapping.
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
