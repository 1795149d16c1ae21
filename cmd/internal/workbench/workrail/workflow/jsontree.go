package workflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/token"
)

// jsonBuilder builds the tree of a JSON file. The YAML parser is not used for JSON, because YAML reads some JSON texts
// differently and limits the length of a line.
type jsonBuilder struct {
	builder
	data    []byte
	decoder *json.Decoder

	offset, line, column int // position counted so far; line and column belong to offset
}

// parseJSON returns the root of a file that [json.Valid] accepts; nil if there are problems.
func (r *reader) parseJSON(data []byte) *node {
	b := &jsonBuilder{builder: builder{reader: r}, data: data, decoder: json.NewDecoder(bytes.NewReader(data)), line: 1, column: 1}
	b.decoder.UseNumber()
	t, at, ok := b.next()
	if !ok {
		return nil
	}
	return b.build(t, at, 0)
}

// syntaxError reports the position of a JSON syntax error.
func (r *reader) syntaxError(data []byte) {
	var v any
	err := json.Unmarshal(data, &v)
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return
	}
	b := &jsonBuilder{builder: builder{reader: r}, data: data, line: 1, column: 1}
	at := b.position(int(max(syntax.Offset-1, 0)))
	r.fail(at, "check commas, quotes and brackets; JSON has no comments", "not JSON: %s", strings.TrimPrefix(syntax.Error(), "json: "))
}

// next returns the next token and where it begins.
func (b *jsonBuilder) next() (t json.Token, at *token.Token, ok bool) {
	before := int(b.decoder.InputOffset())
	t, err := b.decoder.Token()
	if err != nil {
		return nil, nil, false
	}
	for before < len(b.data) && strings.IndexByte(" \t\r\n,:", b.data[before]) >= 0 {
		before++
	}
	return t, b.position(before), true
}

// position returns a token at an offset of the file. Offsets must not decrease from call to call.
func (b *jsonBuilder) position(offset int) *token.Token {
	offset = min(offset, len(b.data))
	for b.offset < offset {
		r, size := utf8.DecodeRune(b.data[b.offset:])
		if b.column++; r == '\n' {
			b.line, b.column = b.line+1, 1
		}
		b.offset += size
	}
	return &token.Token{Position: &token.Position{Line: b.line, Column: b.column, Offset: offset}}
}

func (b *jsonBuilder) build(t json.Token, at *token.Token, depth int) *node {
	if !b.count(at, depth) {
		return nil
	}
	out := &node{at: at}
	switch v := t.(type) {
	case nil:
	case bool:
		out.kind, out.truth = kindBool, v
	case string:
		out.kind, out.text = kindString, v
	case json.Number:
		return b.number(out, string(v))
	case json.Delim:
		if v == '[' {
			return b.list(out, depth)
		}
		return b.mapping(out, depth)
	}
	return out
}

func (b *jsonBuilder) list(out *node, depth int) *node {
	out.kind = kindList
	for b.decoder.More() {
		t, at, ok := b.next()
		if !ok {
			return nil
		}
		item := b.build(t, at, depth+1)
		if item == nil {
			return nil
		}
		out.items = append(out.items, item)
	}
	_, _, ok := b.next()
	return orNil(out, ok)
}

func (b *jsonBuilder) mapping(out *node, depth int) *node {
	out.kind = kindMapping
	seen := map[string]bool{}
	for b.decoder.More() {
		key, keyAt, ok := b.next()
		name, isString := key.(string)
		if !ok || !isString {
			return nil
		}
		t, at, ok := b.next()
		if !ok {
			return nil
		}
		value := b.build(t, at, depth+1)
		if value == nil {
			return nil
		}
		b.add(out, seen, pair{name: name, at: keyAt, value: value})
	}
	_, _, ok := b.next()
	return orNil(out, ok)
}

func orNil(n *node, ok bool) *node {
	if !ok {
		return nil
	}
	return n
}
