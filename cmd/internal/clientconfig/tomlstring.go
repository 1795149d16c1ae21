package clientconfig

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// string parses a string in one of the four forms of TOML.
func (p *tomlParser) string() (*node, error) {
	quote := string(p.src[p.pos])
	start := p.pos
	multi := p.has(strings.Repeat(quote, 3))
	if multi {
		quote = strings.Repeat(quote, 3)
	}
	p.pos += len(quote)
	begin := p.pos
	for !p.has(quote) {
		switch c := p.peek(); {
		case p.pos >= len(p.src) || !multi && (c == '\n' || c == '\r'):
			p.pos = start
			return nil, p.fail("string without an end")
		case c == '\\' && quote[0] == '"':
			p.pos++
		}
		p.pos++
	}
	if multi { // up to two quotes may stand before the closing ones
		for range 2 {
			if p.pos+3 < len(p.src) && p.src[p.pos+3] == quote[0] {
				p.pos++
			}
		}
	}
	text := string(p.src[begin:p.pos])
	p.pos += len(quote)
	if multi {
		text = strings.TrimPrefix(strings.TrimPrefix(text, "\r"), "\n")
	}
	if quote[0] == '"' {
		var ok bool
		if text, ok = unescape(text); !ok {
			p.pos = start
			return nil, p.fail("string with an escape that TOML does not have")
		}
	}
	return &node{kind: kindString, start: start, end: p.pos, text: text}, nil
}

var tomlEscapes = map[byte]string{'b': "\b", 't': "\t", 'n': "\n", 'f': "\f", 'r': "\r", 'e': "\x1b", '"': `"`, '\\': `\`}

// tomlDigits has the number of hexadecimal digits after an escape.
var tomlDigits = map[byte]int{'x': 2, 'u': 4, 'U': 8}

func unescape(text string) (string, bool) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, `\`)
		b.WriteString(before)
		if !found {
			return b.String(), true
		}
		if rest == "" {
			return "", false
		}
		c := rest[0]
		text = rest[1:]
		digits := tomlDigits[c]
		switch plain, ok := tomlEscapes[c]; {
		case ok:
			b.WriteString(plain)
		case digits > 0 && len(text) >= digits:
			code, err := strconv.ParseUint(text[:digits], 16, 32)
			if err != nil || code > utf8.MaxRune || !utf8.ValidRune(rune(code)) {
				return "", false
			}
			b.WriteRune(rune(code))
			text = text[digits:]
		case lineEnds(strings.TrimLeft(rest, " \t")):
			text = strings.TrimLeft(rest, blanks) // a backslash at the end of a line joins lines
		default:
			return "", false
		}
	}
}

func lineEnds(text string) bool {
	return strings.HasPrefix(text, "\n") || strings.HasPrefix(text, "\r\n")
}
