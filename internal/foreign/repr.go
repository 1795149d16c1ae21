package foreign

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/candor-mcp/candor/wire"
)

// Validators of Python, Ruby, Elixir and Node are often printed in the notation of their language: {'when': ['Not a valid
// date.']}, [{'loc': ('n',), …}], {:name=>["is missing"]}, %{name: ["…"]}. This file converts such text to JSON, so that other
// code reads only one notation.

// maxReprDepth is the maximum depth of brackets in a printed value.
const maxReprDepth = 32

// repr reads the printed value at s[i:] and returns its end.
func repr(s string, i int) (v wire.Value, end int, ok bool) {
	p := printed{s: s, i: i}
	if !p.value() || !p.quoted {
		return wire.Value{}, i, false
	}
	v, ok = parse(p.out.String())
	return v, p.i, ok
}

// printed converts a printed value to JSON, byte by byte.
type printed struct {
	s      string
	i      int
	out    strings.Builder
	open   []byte
	last   byte // the last byte that was written and is not a space
	quoted bool // a string was found; prose in brackets has no strings
}

func (p *printed) put(s string) {
	p.out.WriteString(s)
	p.last = s[len(s)-1]
}

// value converts text until the first bracket is closed.
func (p *printed) value() bool {
	for p.i < len(p.s) && p.out.Len() < MaxJSON {
		c := p.s[p.i]
		switch {
		case strings.IndexByte("{[(", c) >= 0:
			if !p.enter(c) {
				return false
			}
		case strings.IndexByte("}])", c) >= 0:
			if !p.leave(c) {
				return false
			}
			if len(p.open) == 0 {
				return true
			}
		case !p.atom(c):
			return false
		}
	}
	return false
}

func (p *printed) enter(c byte) bool {
	p.comma()
	p.open = append(p.open, c)
	p.i++
	p.put(map[byte]string{'{': "{", '[': "[", '(': "["}[c])
	return len(p.open) <= maxReprDepth
}

func (p *printed) leave(c byte) bool {
	if len(p.open) == 0 || c != map[byte]byte{'{': '}', '[': ']', '(': ')'}[p.open[len(p.open)-1]] {
		return false
	}
	p.open = p.open[:len(p.open)-1]
	p.i++
	if p.last == ',' { // a tuple of one
		p.last = '['
	}
	p.put(map[byte]string{'}': "}", ']': "]", ')': "]"}[c])
	return true
}

// comma writes a pending comma. Commas are delayed because JSON allows none before a closing bracket.
func (p *printed) comma() {
	if p.last == ',' {
		p.out.WriteByte(',')
	}
}

// atom converts a string, a mark or a bare word.
func (p *printed) atom(c byte) bool {
	rest := p.s[p.i:]
	switch {
	case len(p.open) == 0:
		return false
	case c == ' ' || c == '\n' || c == '\t' || c == '%' && strings.HasPrefix(rest, "%{"):
		p.i++
	case c == ',':
		p.i++
		p.last = ','
	case strings.HasPrefix(rest, "=>"):
		p.i += 2
		p.put(":")
	case c == ':' && (p.last == '"' || p.last >= '0' && p.last <= '9'):
		p.i++
		p.put(":")
	case c == '\'' || c == '"':
		return p.text(c)
	default:
		return p.word()
	}
	return true
}

// text converts a quoted string.
func (p *printed) text(quote byte) bool {
	var b strings.Builder
	for i := p.i + 1; i < len(p.s); i++ {
		switch c := p.s[i]; {
		case c == quote:
			p.comma()
			p.put(quoteJSON(b.String()))
			p.i, p.quoted = i+1, true
			return true
		case c == '\\' && i+1 < len(p.s):
			i++
			b.WriteString(unescape(p.s[i]))
		default:
			b.WriteByte(c)
		}
	}
	return false
}

func unescape(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 'r':
		return "\r"
	}
	return string([]byte{c})
}

// constants maps the words of several languages for true, false and null to JSON.
var constants = map[string]string{"True": "true", "False": "false", "None": "null", "nil": "null", "true": "true", "false": "false", "null": "null", "undefined": "null"}

// word converts a number, a constant, a symbol, or the name of a key. A call such as Decimal('1') becomes its name.
func (p *printed) word() bool {
	begin := p.i
	if p.s[p.i] == ':' {
		begin++
	}
	end := begin
	for end < len(p.s) && (isLetter(p.s[end]) || isDigit(p.s[end]) || strings.IndexByte("_.-+?!", p.s[end]) >= 0) {
		end++
	}
	w := p.s[begin:end]
	if w == "" {
		return false
	}
	p.i = end
	if end < len(p.s) && p.s[end] == '(' && !p.skipCall() {
		return false
	}
	p.comma()
	number, rest, is := leadingNumber(strings.TrimPrefix(w, "-"))
	switch {
	case constants[w] != "":
		p.put(constants[w])
	case is && rest == "" && !strings.HasPrefix(p.s[p.i:], ":"):
		p.put(strings.TrimSuffix(w, strings.TrimPrefix(w, "-")) + fmt.Sprintf("%g", number))
	default:
		p.put(quoteJSON(w))
	}
	return true
}

// skipCall skips the brackets of a call.
func (p *printed) skipCall() bool {
	depth := 0
	for ; p.i < len(p.s); p.i++ {
		switch p.s[p.i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				p.i++
				return true
			}
		}
	}
	return false
}

// quoteJSON returns s as a JSON string.
func quoteJSON(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20:
			fmt.Fprintf(&b, "\\u%04x", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// effect reads the trees that Effect's schemas print: each branch is a step of the path, each leaf a reason.
//
//	{ readonly days: number }
//	└─ ["days"]
//	   └─ Expected number, actual "x"
func (r *reader) effect(s string) bool {
	if !strings.Contains(s, "─ [") {
		return false
	}
	found := false
	var depths []int
	var steps []string
	for line := range strings.Lines(s) {
		content := strings.TrimLeft(line, " │├└─")
		depth := utf8.RuneCountInString(line[:len(line)-len(content)])
		for len(depths) > 0 && depths[len(depths)-1] >= depth {
			depths, steps = depths[:len(depths)-1], steps[:len(steps)-1]
		}
		content = strings.TrimSpace(content)
		if step, ok := branch(content); ok {
			depths, steps = append(depths, depth), append(steps, step)
			continue
		}
		if plainSteps(steps) && isLeaf(content) {
			found = true
			r.place(append([]string(nil), steps...), "", content)
		}
	}
	return found
}

// branch reads ["days"] or [0] on a separate line.
func branch(content string) (step string, ok bool) {
	inside, ok := strings.CutPrefix(content, "[")
	inside, closed := strings.CutSuffix(inside, "]")
	step = strings.Trim(inside, "\"")
	return step, ok && closed && (isIndex(step) || isPath(step))
}

// isLeaf distinguishes the reason from a printed type, which may be between it and the path.
func isLeaf(content string) bool {
	return strings.HasPrefix(content, "Expected ") || strings.HasPrefix(content, "is ") || strings.Contains(content, "actual ")
}
