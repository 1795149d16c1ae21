package clientconfig

import (
	"bytes"
	"encoding/json"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// parseJSONC parses JSON with comments and trailing commas. An empty text is an empty table.
func parseJSONC(src []byte) (*node, error) {
	p := &jsonParser{src: src}
	if bytes.HasPrefix(src, byteOrderMark) {
		p.pos = len(byteOrderMark)
	}
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.pos == len(src) {
		return &node{kind: kindTable}, nil
	}
	root, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.pos < len(src) {
		return nil, p.fail("text after the end of the value")
	}
	return root, nil
}

type jsonParser struct {
	src []byte
	pos int
}

func (p *jsonParser) fail(problem string) error { return syntaxError(p.src, p.pos, problem) }

// peek returns the next byte, or 0 at the end.
func (p *jsonParser) peek() byte {
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

// space skips white space and comments.
func (p *jsonParser) space() error {
	for p.pos < len(p.src) {
		rest := p.src[p.pos:]
		switch {
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\n' || rest[0] == '\r':
			p.pos++
		case bytes.HasPrefix(rest, []byte("//")):
			p.pos += lineLength(rest)
		case bytes.HasPrefix(rest, []byte("/*")):
			end := bytes.Index(rest[2:], []byte("*/"))
			if end < 0 {
				return p.fail("comment without an end")
			}
			p.pos += end + 4
		default:
			return nil
		}
	}
	return nil
}

// lineLength returns the number of bytes before the end of the first line.
func lineLength(text []byte) int {
	if i := bytes.IndexAny(text, "\r\n"); i >= 0 {
		return i
	}
	return len(text)
}

func (p *jsonParser) value(depth int) (*node, error) {
	if depth > maxDepth {
		return nil, p.fail("values are nested too deeply")
	}
	switch p.peek() {
	case '{':
		return p.object(depth)
	case '[':
		return p.array(depth)
	case '"':
		return p.string()
	}
	start := p.pos
	for p.pos < len(p.src) && isScalar(p.src[p.pos]) {
		p.pos++
	}
	if !json.Valid(p.src[start:p.pos]) {
		p.pos = start
		return nil, p.fail("not a JSON value")
	}
	return &node{start: start, end: p.pos, text: string(p.src[start:p.pos])}, nil
}

func isScalar(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '-' || b == '+' || b == '.'
}

func (p *jsonParser) string() (*node, error) {
	start := p.pos
	for p.pos++; p.pos < len(p.src) && p.src[p.pos] != '"'; p.pos++ {
		if p.src[p.pos] == '\\' {
			p.pos++
		}
	}
	if p.pos >= len(p.src) {
		p.pos = start
		return nil, p.fail("string without an end")
	}
	p.pos++
	n := &node{kind: kindString, start: start, end: p.pos}
	if err := json.Unmarshal(p.src[start:p.pos], &n.text); err != nil {
		p.pos = start
		return nil, p.fail("not a JSON string")
	}
	return n, nil
}

func (p *jsonParser) object(depth int) (*node, error) {
	n := &node{kind: kindTable, start: p.pos}
	err := p.list('}', func() error {
		if p.peek() != '"' {
			return p.fail("missing the name of a member")
		}
		key, err := p.string()
		if err != nil {
			return err
		}
		if err := p.space(); err != nil {
			return err
		}
		if p.peek() != ':' {
			return p.fail("missing a colon")
		}
		p.pos++
		if err := p.space(); err != nil {
			return err
		}
		value, err := p.value(depth + 1)
		if err == nil {
			n.members = append(n.members, &member{name: key.text, start: key.start, value: value})
		}
		return err
	})
	n.end = p.pos
	return n, err
}

func (p *jsonParser) array(depth int) (*node, error) {
	n := &node{kind: kindArray, start: p.pos}
	err := p.list(']', func() error {
		item, err := p.value(depth + 1)
		if err == nil {
			n.items = append(n.items, item)
		}
		return err
	})
	n.end = p.pos
	return n, err
}

// list parses elements up to the closing byte. A comma may follow the last one.
func (p *jsonParser) list(closing byte, element func() error) error {
	p.pos++
	for first := true; ; first = false {
		if err := p.space(); err != nil {
			return err
		}
		comma := p.peek() == ','
		if comma {
			if first {
				return p.fail("comma before the first element")
			}
			p.pos++
			if err := p.space(); err != nil {
				return err
			}
		}
		switch {
		case p.peek() == closing:
			p.pos++
			return nil
		case p.pos >= len(p.src):
			return p.fail("missing " + string(rune(closing)))
		case !first && !comma:
			return p.fail("missing a comma")
		}
		if err := element(); err != nil {
			return err
		}
	}
}
