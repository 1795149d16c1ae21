package clientconfig

import (
	"bytes"
	"strings"
)

// parseTOML parses a TOML document. Numbers, booleans and dates are not checked: nothing here depends on them.
func parseTOML(src []byte) (*node, error) {
	p := &tomlParser{src: src, root: &node{kind: kindTable}}
	p.table = p.root
	if bytes.HasPrefix(src, byteOrderMark) {
		p.pos = len(byteOrderMark)
	}
	for {
		p.lines()
		if p.pos == len(src) {
			return p.root, nil
		}
		parse := p.keyValueLine
		if src[p.pos] == '[' {
			parse = p.header
		}
		if err := parse(); err != nil {
			return nil, err
		}
		if err := p.endOfLine(); err != nil {
			return nil, err
		}
	}
}

type tomlParser struct {
	src   []byte
	pos   int
	root  *node
	table *node // of the last header
}

func (p *tomlParser) fail(problem string) error { return syntaxError(p.src, p.pos, problem) }

func (p *tomlParser) peek() byte {
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

func (p *tomlParser) has(prefix string) bool {
	return p.pos <= len(p.src) && bytes.HasPrefix(p.src[p.pos:], []byte(prefix))
}

// blanks skips spaces and tabs.
func (p *tomlParser) blanks() {
	for p.peek() == ' ' || p.peek() == '\t' {
		p.pos++
	}
}

// lines skips white space, line ends and comments.
func (p *tomlParser) lines() {
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\t', '\r', '\n':
			p.pos++
		case '#':
			p.pos += lineLength(p.src[p.pos:])
		default:
			return
		}
	}
}

func (p *tomlParser) endOfLine() error {
	p.blanks()
	if p.peek() == '#' {
		p.pos += lineLength(p.src[p.pos:])
	}
	if p.pos == len(p.src) || p.peek() == '\n' || p.has("\r\n") {
		return nil
	}
	return p.fail("text after the end of the value")
}

// header parses [table] and [[table]]. Tables of an array are not attached to the tree: no server is in one.
func (p *tomlParser) header() error {
	start := p.pos
	array := p.has("[[")
	closing := "]"
	p.pos++
	if array {
		closing = "]]"
		p.pos++
	}
	p.blanks()
	names, _, err := p.key()
	if err != nil {
		return err
	}
	if p.blanks(); !p.has(closing) {
		return p.fail("missing " + closing)
	}
	p.pos += len(closing)
	if array {
		p.table = &node{kind: kindTable}
		return nil
	}
	table, err := p.descend(p.root, names, start)
	if err != nil {
		return err
	}
	if table.defined {
		p.pos = start
		return p.fail("the table " + quoted(strings.Join(names, ".")) + " occurs twice")
	}
	table.defined = true
	p.table = table
	return nil
}

// descend returns the table at a path, which it creates if necessary.
func (p *tomlParser) descend(n *node, names []string, start int) (*node, error) {
	for _, name := range names {
		next := n.child(name)
		if next == nil {
			next = &node{kind: kindTable}
			n.members = append(n.members, &member{name: name, start: start, value: next})
		}
		if next.kind != kindTable {
			p.pos = start
			return nil, p.fail(quoted(name) + " is not a table")
		}
		n = next
	}
	return n, nil
}

// key parses a dotted key and returns its parts and the position of the last one.
func (p *tomlParser) key() (names []string, last int, err error) {
	for {
		last = p.pos
		name, err := p.keyPart()
		if err != nil {
			return nil, 0, err
		}
		names = append(names, name)
		end := p.pos
		if p.blanks(); p.peek() != '.' {
			p.pos = end
			return names, last, nil
		}
		p.pos++
		p.blanks()
	}
}

func (p *tomlParser) keyPart() (string, error) {
	if c := p.peek(); c == '"' || c == '\'' {
		n, err := p.string()
		if err != nil {
			return "", err
		}
		return n.text, nil
	}
	start := p.pos
	for p.pos < len(p.src) && isBare(p.src[p.pos]) {
		p.pos++
	}
	if p.pos == start {
		return "", p.fail("missing a key")
	}
	return string(p.src[start:p.pos]), nil
}

func isBare(b byte) bool { return isScalar(b) && b != '.' && b != '+' || b == '_' }

func (p *tomlParser) keyValueLine() error { return p.keyValue(p.table, false, 0) }

func (p *tomlParser) keyValue(into *node, inline bool, depth int) error {
	start := p.pos
	names, last, err := p.key()
	if err != nil {
		return err
	}
	if p.blanks(); p.peek() != '=' {
		return p.fail("missing =")
	}
	p.pos++
	p.blanks()
	table, err := p.descend(into, names[:len(names)-1], start)
	if err != nil {
		return err
	}
	name := names[len(names)-1]
	if table.get(name) != nil {
		p.pos = start
		return p.fail("the key " + quoted(name) + " occurs twice")
	}
	value, err := p.value(depth)
	if err == nil {
		table.members = append(table.members, &member{name: name, start: start, prefix: string(p.src[start:last]), inline: inline, value: value})
	}
	return err
}

func (p *tomlParser) value(depth int) (*node, error) {
	if depth > maxDepth {
		return nil, p.fail("values are nested too deeply")
	}
	switch p.peek() {
	case '"', '\'':
		return p.string()
	case '[':
		return p.array(depth)
	case '{':
		return p.inlineTable(depth)
	}
	start := p.pos
	rest := p.src[start:]
	if end := bytes.IndexAny(rest, ",]}#\r\n"); end >= 0 {
		rest = rest[:end]
	}
	p.pos += len(bytes.TrimRight(rest, " \t"))
	if p.pos == start {
		return nil, p.fail("missing a value")
	}
	return &node{start: start, end: p.pos, text: string(p.src[start:p.pos])}, nil
}

func (p *tomlParser) array(depth int) (*node, error) {
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

func (p *tomlParser) inlineTable(depth int) (*node, error) {
	n := &node{kind: kindTable, start: p.pos, defined: true}
	err := p.list('}', func() error { return p.keyValue(n, true, depth+1) })
	n.end = p.pos
	return n, err
}

// list parses elements up to the closing byte. Line ends and a last comma are accepted in inline tables too, as in TOML 1.1.
func (p *tomlParser) list(closing byte, element func() error) error {
	p.pos++
	for first := true; ; first = false {
		p.lines()
		comma := p.peek() == ',' && !first
		if comma {
			p.pos++
			p.lines()
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
