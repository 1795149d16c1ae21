package redact

import (
	"strings"
)

// pair cuts the value of a name = value or name: value with the separator s[from:to].
func (x *scanner) pair(from, to int, sep byte) bool {
	s := x.s
	if !mayName(s, from) {
		return false
	}
	name := nameBefore(s, from)
	if name.text == "" || inARN(s, name.start) {
		return false
	}
	m := meaningOf(name.text)
	if name.foreign {
		return x.foreignPair(to)
	}
	if m.level == none {
		if m = meaningOf(siblingName(s, name)); m.level != strong {
			return false
		}
		name.prose = true // the value must look opaque
	}
	if m.kind == kindPassword && (name.text == "PWD" || name.text == "OLDPWD") && sep == '=' {
		return false // the shell's working directory
	}
	if m.kind == kindPassword && (strings.HasSuffix(s[:name.start], "-passin ") || strings.HasSuffix(s[:name.start], "-passout ")) {
		m.level = strong // openssl's pass:password
	}
	if m.level == weak || name.doubtful(m) {
		return x.maybe(name, m, to, sep)
	}
	v := x.headerValue(m, valueAt(s, to, all))
	if v.from >= v.to && sep == ':' {
		return x.nextLine(name, m, to)
	}
	if m.kind == kindPassword && !v.quoted && !name.query {
		v.to = ampersands(s, v)
	}
	if v.from >= v.to || !x.holds(name, v, m, sep) {
		return false
	}
	return x.redactValue(name, m, v)
}

// nextLine cuts a value that is alone on the line after its name, as forms and terminals print it. It must look
// opaque, because the text after a heading is mostly prose.
func (x *scanner) nextLine(name name, m meaning, to int) bool {
	s := x.s
	at := skipBlank(s, to)
	if at >= len(s) || s[at] != '\n' {
		return false
	}
	v := valueAt(s, at+1, valueLimit)
	end := skipBlank(s, v.to)
	if v.quoted || v.from >= v.to || end < len(s) && s[end] != '\n' {
		return false
	}
	text := s[v.from:v.to]
	if placeholderStart(s, v.from, v.to) < 0 && (harmless(text) || !opaque(text, 8)) {
		return false
	}
	return x.redactValue(name, m, v)
}

// ampersands returns the end of a password that contains a &, which ends a value only in a URL's query
// and before another parameter.
func ampersands(s string, v value) int {
	end := v.to
	for end > v.from && end+1 < len(s) && s[end] == '&' {
		_, n := unitAt(s, end)
		name := ident.run(s, end+1, nameLimit)
		if n > 1 || space.in(s[end+1]) || s[end+1] == '&' || name > end+1 && name < len(s) && strings.IndexByte("=[%;", s[name]) >= 0 {
			break
		}
		next := bareEnd(s, end+1)
		if next == end+1 {
			break
		}
		end = next
	}
	return end
}

// inVain remembers a long unquoted value that was read and kept, so that its parts are not read
// again: a part of a value that is not opaque is not opaque either.
func (x *scanner) inVain(v value) {
	if !v.quoted && v.to-v.from > nameLimit {
		x.noWeak = v.to
	}
}

// maybe cuts a value after a weak name if it looks opaque.
func (x *scanner) maybe(name name, m meaning, to int, sep byte) bool {
	s := x.s
	if to < x.noWeak {
		return false
	}
	v := valueAt(s, to, valueLimit)
	if v.from >= v.to {
		return false
	}
	if placeholderStart(s, v.from, v.to) < 0 && !x.looksSecret(name, m, v, sep) {
		x.inVain(v)
		return false
	}
	if !v.quoted && v.to-to > valueLimit-gap {
		v.to = bareEnd(s, v.from)
	}
	return x.redactValue(name, m, v)
}

func (x *scanner) looksSecret(name name, m meaning, v value, sep byte) bool {
	text := x.s[v.from:v.to]
	switch {
	case v.quoted && v.open && v.to-v.from > valueLimit/2, harmless(text):
		return false
	case oneTime(name.text) && len(text) >= 4 && len(text) <= 10 && digit.run(text, 0, all) == len(text):
		return true
	case name.query && len(text) >= queryKeyLength && queryKeys[name.text]:
		return true
	case m.level == strong, name.query:
		return opaque(text, 8)
	case m.kind == kindToken && !v.quoted && sep != '=':
		return false
	}
	return opaque(text, opaqueLength)
}

// queryKeys are parameters of a URL that hold a credential although their names are ordinary words elsewhere.
var queryKeys = set("key", "ak", "sk", "sig", "sign", "auth", "signature")

// queryKeyLength is the length from which the values of queryKeys count as credentials even if they do not look opaque: sort
// keys and directions are shorter.
const queryKeyLength = 10

// oneTime reports whether a name ends in otp or totp: its value is a short number, which no other rule recognises.
func oneTime(name string) bool { return len(name) >= 3 && foldPrefix(name[len(name)-3:], "otp") }

// redactValue cuts the value, or skips it if it is already a placeholder.
func (x *scanner) redactValue(name name, m meaning, v value) bool {
	s := x.s
	if placeholderStart(s, v.from, v.to) >= 0 {
		x.i = v.to
		return true
	}
	with := placeholder(m.kind)
	if !v.quoted && name.quote != "" && digit.in(s[v.from]) {
		with = name.quote + with + name.quote // replace a JSON number by a JSON string
	}
	x.cut(v.from, v.to, with)
	return true
}

// holds reports whether the value after a name for a secret is a secret.
func (x *scanner) holds(name name, v value, m meaning, sep byte) bool {
	s := x.s
	text := s[v.from:v.to]
	switch {
	case placeholderStart(s, v.from, v.to) >= 0:
		return true
	case harmless(text):
		return false
	case v.quoted || sep == '=' && !name.spaced || len(text) > valueLimit:
		return true
	case m.kind == kindCookie:
		return strings.IndexByte(text, '=') > 0
	}
	return !talk(s, text, v.to)
}

// talk reports whether an unquoted value is the first word of a sentence: it has only letters, or is a number,
// and another word follows.
func talk(s, text string, end int) bool {
	if len(text) > nameLimit {
		return false
	}
	for i := range len(text) {
		if c := text[i]; digit.in(c) && i > 0 || c >= 0x80 || strings.IndexByte("!@#$^*+=/", c) >= 0 {
			return false
		}
	}
	if end < len(s) && (s[end] == ',' || s[end] == '.' || s[end] == ':') {
		end++
	}
	return end+1 < len(s) && s[end] == ' ' && (alnum.in(s[end+1]) || s[end+1] == '(')
}

// name is the name before a separator.
type name struct {
	text   string
	start  int
	quote  string // the quotes around the name, in their encoded form
	query  bool   // the name is a parameter of a URL
	prose  bool   // words of a sentence precede the name
	spaced bool   // white space separates the name from the separator

	foreign bool // the name is one of foreignWords
}

// doubtful reports whether the name may be a word of a sentence ("Unexpected token: …"), so that the
// value must look opaque. Sentences about passwords usually contain one.
func (n name) doubtful(m meaning) bool {
	return n.prose && m.kind != kindPassword && m.kind != kindAuth
}

// nameBefore reads the name that ends at i, skipping a closing quote or bracket and white space.
func nameBefore(s string, i int) (n name) {
	j := i
	for j > 0 && i-j < gap && s[j-1] == ' ' {
		j--
	}
	n.spaced = j < i
	if j > 0 && s[j-1] == ']' {
		j--
	}
	if j > 0 && s[j-1] == '[' { // name[]=value
		j--
	}
	if j == 0 {
		return n
	}
	if c, start := unitBefore(s, j); quote.in(c) {
		n.quote = s[start:j]
		j = start
	}
	if j == 0 {
		return n
	}
	from := ident.back(s, j, nameLimit)
	from = behindEscape(s, from, j)
	if start := foreignName(s, j); start < j {
		n.text, n.start, n.foreign = s[start:j], start, true
		return n
	}
	n.text, n.start = s[from:j], from
	if from == 0 {
		return n
	}
	switch c, start := unitBefore(s, from); c {
	case '?', '&', '#':
		n.query = n.quote == ""
	case ';':
		n.query = strings.HasSuffix(s[:from], "&amp;")
	case ' ':
		n.prose = n.quote == "" && start > 0 && (alnum.in(s[start-1]) || s[start-1] >= 0x80) && start == from-1
	}
	return n
}

// behindEscape moves the beginning of a name past the end of an escape that was read as part of
// it: the "26" of %26token, the "u0026" of \u0026token, the "n" of \ntoken.
func behindEscape(s string, from, to int) int {
	if from == 0 || s[from-1] != '\\' && s[from-1] != '%' {
		return from
	}
	if _, n := unitAt(s, from-1); n > 1 && from-1+n <= to {
		return from - 1 + n
	}
	return from
}

// siblingLimit bounds how far before a value its name is searched for when it is not directly
// before it.
const siblingLimit = 200

// siblings are names without a meaning, for which the actual name is elsewhere.
var siblings = map[string]func(s string, i int) string{
	"value": memberBefore, "Value": memberBefore, "input_value": lineBefore,
}

// siblingName returns the actual name of a value with one of siblings as its direct name.
func siblingName(s string, n name) string {
	find, ok := siblings[n.text]
	if !ok {
		return ""
	}
	return find(s, n.start)
}

// memberBefore returns the X of "name":"X","value":…, as lists of variables are written. i is where
// the member's name begins, after its quote.
func memberBefore(s string, i int) string {
	if i == 0 {
		return ""
	}
	c, j := unitBefore(s, i)
	if !quote.in(c) {
		return ""
	}
	j = space.back(s, j, 2*gap)
	if j == 0 || s[j-1] != ',' {
		return ""
	}
	return nameBefore(s, j-1).text
}

// lineBefore returns the line before the one that contains i, if it is a single name:
// Python's validators print the rejected field that way.
func lineBefore(s string, i int) string {
	near := s[max(0, i-siblingLimit):i]
	near, _, ok := cutLast(near, "\n")
	if !ok {
		return ""
	}
	if _, line, ok := cutLast(near, "\n"); ok {
		near = line
	}
	near = strings.TrimSpace(near)
	if ident.run(near, 0, nameLimit) < len(near) {
		return ""
	}
	return near
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
