package redact

import (
	"strings"

	"github.com/candor-mcp/candor/internal/truncate"
)

// flag cuts the value of a command line flag, --name value. The form --name=value is a pair.
func (x *scanner) flag(i int) bool {
	s := x.s
	if !strings.HasPrefix(s[i:], "--") || i > 0 && !(space|quote).in(s[i-1]) {
		return false
	}
	end := token.run(s, i+2, nameLimit)
	if end == len(s) || s[end] != ' ' && !quote.in(s[end]) {
		return false
	}
	m := meaningOf(s[i+2 : end])
	if m.level != strong {
		return false
	}
	from := end + 1
	if quote.in(s[end]) { // '--name', 'value': a printed argument list
		from = skipComma(s, from)
	}
	v := valueAt(s, from, all)
	if v.from >= v.to || s[v.from] == '-' {
		return false
	}
	text := s[v.from:v.to]
	if placeholderStart(s, v.from, v.to) < 0 && (harmless(text) || !v.quoted && talk(s, text, v.to)) {
		return false
	}
	return x.redactValue(name{}, m, v)
}

func skipComma(s string, i int) int {
	i = skipBlank(s, i)
	if i < len(s) && s[i] == ',' {
		i++
	}
	return i
}

// tuple cuts the value of 'name', 'value', as raw headers are printed. The comma is at i. Lists of
// names look the same, so the value must look opaque.
func (x *scanner) tuple(i int) bool {
	s := x.s
	if i == 0 || !quote.in(s[i-1]) {
		return false
	}
	name := nameBefore(s, i)
	if name.quote == "" || meaningOf(name.text).level != strong {
		return false
	}
	v := valueAt(s, i+1, 2*valueLimit)
	if !v.quoted || v.from >= v.to || v.to-v.from > valueLimit {
		return false
	}
	m := meaningOf(name.text)
	text := s[v.from:v.to]
	if placeholderStart(s, v.from, v.to) >= 0 {
		x.i = v.to
		return true
	}
	scheme, rest, found := strings.Cut(text, " ")
	if opaque(text, 12) || m.kind == kindAuth && found && schemes[strings.ToLower(scheme)] && !harmless(rest) {
		return x.redactValue(name, m, v)
	}
	return false
}

// arrow handles the > of name => value and name -> value.
func (x *scanner) arrow(i int) bool {
	return i > 0 && (x.s[i-1] == '=' || x.s[i-1] == '-') && x.pair(i-1, i+1, ':')
}

// element cuts the text of <name>text</name>. The bracket that closes the opening tag is at i.
func (x *scanner) element(i int) bool {
	s := x.s
	from := ident.back(s, i, nameLimit)
	if from == i || from == 0 || s[from-1] != '<' {
		return false
	}
	m := meaningOf(s[from:i])
	if m.level != strong {
		return false
	}
	n := strings.IndexByte(s[i+1:min(len(s), i+1+valueLimit)], '<')
	end := i + 1 + n
	if n < 0 {
		end = truncate.Border(s, i+1+valueLimit)
	}
	v := value{from: i + 1, to: end, quoted: true}
	if v.from >= v.to || harmless(s[v.from:v.to]) {
		return false
	}
	return x.redactValue(name{}, m, v)
}
