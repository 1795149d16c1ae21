package clientconfig

import "fmt"

// kind is the type of a node.
type kind uint8

const (
	kindOther kind = iota // number, boolean, null, date
	kindString
	kindArray
	kindTable // a JSON object or a TOML table
)

// node is a value of a configuration file with its position in the text.
type node struct {
	kind       kind
	start, end int    // of the value; not set for a TOML table with a header
	text       string // of a string, unescaped; of a number or the like, as written
	items      []*node
	members    []*member
	defined    bool // a TOML table that has its header
}

// member is a name and a value in a table.
type member struct {
	name   string
	start  int    // of the key
	prefix string // the text before the last part of a dotted TOML key
	inline bool   // in a TOML inline table
	value  *node
}

// get returns the member with a name, or nil.
func (n *node) get(name string) *member {
	if n == nil {
		return nil
	}
	for _, m := range n.members {
		if m.name == name {
			return m
		}
	}
	return nil
}

// child returns the value of a member, or nil.
func (n *node) child(name string) *node {
	if m := n.get(name); m != nil {
		return m.value
	}
	return nil
}

// repeats reports whether a table has a name more than once.
func (n *node) repeats(name string) bool {
	count := 0
	for _, m := range n.members {
		if m.name == name {
			count++
		}
	}
	return count > 1
}

// strings returns the items of an array of strings.
func (n *node) strings() ([]string, bool) {
	if n == nil || n.kind != kindArray {
		return nil, false
	}
	list := make([]string, 0, len(n.items))
	for _, item := range n.items {
		if item.kind != kindString {
			return nil, false
		}
		list = append(list, item.text)
	}
	return list, true
}

// maxDepth bounds nested values.
const maxDepth = 200

// SyntaxError is text that is not valid in the format of the file.
type SyntaxError struct {
	Line, Column int // from 1; the column counts bytes
	Problem      string
}

// Error returns the position and the problem.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Problem)
}

func syntaxError(src []byte, pos int, problem string) *SyntaxError {
	e := &SyntaxError{Line: 1, Column: 1, Problem: problem}
	for _, b := range src[:min(pos, len(src))] {
		e.Column++
		if b == '\n' {
			e.Line, e.Column = e.Line+1, 1
		}
	}
	return e
}
