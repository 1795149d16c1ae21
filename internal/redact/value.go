package redact

import (
	"strings"

	"github.com/candor-mcp/candor/internal/truncate"
)

// value is the span of the value that follows a name.
type value struct {
	from, to int
	quoted   bool
	open     bool // the text ends before the closing quote
}

// gap bounds the white space between a name, its separator and its value.
const gap = 8

// valueLimit bounds how far a possible value is read.
const valueLimit = 512

// valueAt finds the value that begins at or after i, on the same line, and reads at most limit
// bytes of it.
func valueAt(s string, i, limit int) value {
	s = s[:truncate.Border(s, i+limit)]
	i = skipBlank(s, i)
	if i < len(s) && s[i] == '[' && placeholderEnd(s, i) == i { // one value in a list
		i = skipBlank(s, i+1)
	}
	if i < len(s) && s[i] == 'b' && i+1 < len(s) && s[i+1] == '\'' { // Python bytes
		i++
	}
	i = insideConstructors(s, i)
	if i >= len(s) {
		return value{from: len(s), to: len(s)}
	}
	if c, n := unitAt(s, i); quote.in(c) {
		return quotedAt(s, i, n)
	}
	return value{from: i, to: bareEnd(s, i)}
}

// maxConstructors bounds the nesting that insideConstructors steps into, as in Some(SecretString("…")).
const maxConstructors = 3

// insideConstructors returns where the argument of a constructor at i begins, in the debug formats of Rust, Swift, Java and
// Haskell: Some("x"), Optional[x], Just "x". Without a constructor it returns i.
func insideConstructors(s string, i int) int {
	for range maxConstructors {
		if i >= len(s) || !upper.in(s[i]) {
			return i
		}
		end := alnum.run(s, i, nounLimit+nounLimit)
		switch {
		case end+1 < len(s) && (s[end] == '(' || s[end] == '['):
			i = end + 1
		case s[i:end] == "Just" && end+1 < len(s) && s[end] == ' ' && quote.in(s[end+1]):
			return end + 1
		default:
			return i
		}
	}
	return i
}

func skipBlank(s string, i int) int {
	for end := min(len(s), i+gap); i < end && (s[i] == ' ' || s[i] == '\t'); {
		i++
	}
	return i
}

// quotedAt finds the closing quote that has the same form as the opening one, s[i:i+n].
func quotedAt(s string, i, n int) value {
	form := s[i : i+n]
	v := value{from: i + n, quoted: true}
	for j := v.from; j < len(s); {
		switch {
		case strings.HasPrefix(s[j:], form):
			v.to = j
			return v
		case s[j] == '\n':
			v.to, v.open = j, true
			return v
		case s[j] == '\\':
			j = skipEscape(s, j, form)
		default:
			j++
		}
	}
	v.to, v.open = len(s), true
	return v
}

// skipEscape skips a backslash and the byte that it escapes. Inside \"…\" a \\\" is part of the value.
func skipEscape(s string, j int, form string) int {
	run := j
	for run < len(s) && s[run] == '\\' && run-j < escapes {
		run++
	}
	if form[0] == '\\' && run-j < len(form)-1 {
		return run // fewer backslashes than the quote has: another nesting level
	}
	return min(len(s), run+1)
}

// bareEnd returns where an unquoted value ends. A comma, which may be part of a password, ends it only at the
// end of a clause or before another name.
func bareEnd(s string, i int) int {
	from := i
	if rest := s[i:]; strings.HasPrefix(rest, "${") || strings.HasPrefix(rest, "$(") || strings.HasPrefix(rest, "{{") {
		return i // a variable
	}
	if end := placeholderEnd(s, i); end > i {
		i = end
	}
	for i < len(s) {
		c := s[i]
		if space.in(c) || quote.in(c) || strings.IndexByte("&;<>{}|", c) >= 0 || c == ',' && commaEnds(s, i) {
			break
		}
		if c == '\\' || c == '%' {
			u, n := unitAt(s, i)
			if n > 1 && (space.in(u) || quote.in(u) || u == '&' || u == ';' || u == ',') {
				break
			}
			i += n
			continue
		}
		i++
	}
	for i > from && strings.IndexByte(",.)]:!?\\", s[i-1]) >= 0 && placeholderStart(s, from, i) < 0 {
		i--
	}
	return i
}

// placeholderStart returns from if s[from:to] is exactly one placeholder, else -1.
func placeholderStart(s string, from, to int) int {
	if end := placeholderEnd(s, from); end > from && end == to {
		return from
	}
	return -1
}

// commaEnds reports whether the comma at i ends a value: another name, or the end of a clause, follows.
func commaEnds(s string, i int) bool {
	j := i + 1
	if j == len(s) || space.in(s[j]) || quote.in(s[j]) {
		return true
	}
	end := ident.run(s, j, nameLimit)
	return end > j && end < len(s) && (s[end] == '=' || s[end] == ':')
}

// harmless reports whether v is not a secret but a word about a value, a variable, a mask or a sentence.
// A value longer than valueLimit is never harmless, which bounds the bytes that are read in vain.
func harmless(v string) bool {
	if len(v) > valueLimit {
		return false
	}
	if allMask(v) {
		return true
	}
	if len(v) <= 16 {
		var buf [16]byte
		for i := range len(v) {
			buf[i] = lowerByte(v[i])
		}
		if harmlessWords[string(buf[:len(v)])] {
			return true
		}
	}
	for _, p := range variables {
		if foldPrefix(v, p) {
			return true
		}
	}
	return variable(v) || sentence(v)
}

// variable reports whether v is a reference to an environment variable, as in $API_TOKEN.
func variable(v string) bool {
	return len(v) > 2 && v[0] == '$' && upper.in(v[1]) && (upper|digit|under).run(v, 1, all) == len(v)
}

// variables are prefixes of values that refer to a value elsewhere.
var variables = []string{
	"${", "$(", "{{", "<", "%s", "%v", "%q", "%d", "process.env", "os.environ", "os.getenv", "env.", "env:", "your-", "your_",
	"my-api", "[object", "[hidden", "[filtered", "[masked", "[redacted]", "[secret]", "(redacted", "(hidden", "{", "(", "http://", "https://", "opaquelocktoken:", "urn:uuid:",
}

// allMask reports whether v consists only of mask characters.
func allMask(v string) bool {
	for _, r := range v {
		if !strings.ContainsRune("*xX.-_#? •…", r) {
			return false
		}
	}
	return true
}

// sentence reports whether v is prose about a value.
func sentence(v string) bool {
	if strings.IndexByte(v, ' ') < 0 {
		return false
	}
	count := 0
	for w := range strings.FieldsFuncSeq(v, func(r rune) bool { return r == ' ' || r == '.' || r == ',' || r == ':' || r == '"' }) {
		if proseWords[strings.ToLower(w)] {
			count++
		}
	}
	return count >= 2
}
