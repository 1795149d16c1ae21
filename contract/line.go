package contract

import "github.com/candor-mcp/candor/internal/phrase"

// line is the first line of a text, in lower case and split into words. It is limited to lineBytes and lineWords: error messages
// state the failure early, and later text is usually data. Filling it allocates nothing.
type line struct {
	buf   [lineBytes]byte
	words [lineWords]phrase.Word
	n     int // words used
}

const (
	lineBytes = 320
	lineWords = 64
)

func (l *line) text() phrase.Text { return phrase.Text{Bytes: l.buf[:], Words: l.words[:l.n]} }

func (l *line) word(i int) []byte { return l.buf[l.words[i].From:l.words[i].To] }

// echoWord replaces text that only repeats the arguments of the call.
const echoWord = '\x1a'

// placeWord replaces a URL, a path or a file name that is not in the call.
const placeWord = '\x1b'

// isWordByte reports whether c can be part of a word. Bytes of multi-byte characters count as letters; phrases in scripts without
// spaces are searched as substrings.
func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 0x80 || c == '\'' || c == '_' || c == echoWord || c == placeWord
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// read fills the line from text, up to the first newline, and returns the remaining text. It skips decoration in front of the
// first word, such as quotes, bullets and Markdown. If escaped is set, text is the inside of a JSON string.
func (l *line) read(text []byte, escaped bool) (rest []byte) {
	l.n = 0
	i := skipDecoration(text, escaped)
	n := 0
	open := false
	for ; i < len(text) && n < lineBytes; i++ {
		c := text[i]
		if escaped && c == '\\' && i+1 < len(text) {
			i++
			c = unescapeByte(text[i])
		}
		if c == '\n' {
			i++
			break
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c == '\'' && (i+1 >= len(text) || !isLetter(text[i+1])) {
			c = '"' // a closing quote, not an apostrophe
		}
		l.buf[n] = c
		open = l.step(c, n, open)
		n++
	}
	if open && l.n < lineWords {
		l.words[l.n].To = uint16(n) //nolint:gosec // n is at most lineBytes
		l.n++
	}
	return text[min(i, len(text)):]
}

// step processes one character: it opens, extends or closes a word. It reports whether a word is open.
func (l *line) step(c byte, n int, open bool) bool {
	if isWordByte(c) {
		if !open && l.n < lineWords {
			l.words[l.n] = phrase.Word{From: uint16(n)} //nolint:gosec // n is at most lineBytes
		}
		return true
	}
	if open && l.n < lineWords {
		l.words[l.n].To = uint16(n) //nolint:gosec // n is at most lineBytes
		l.n++
	}
	// A hyphen inside a name, as in error-budget.md, is not punctuation.
	if c != ' ' && l.n > 0 && l.words[l.n-1].Mark == 0 && !(open && c == '-') {
		l.words[l.n-1].Mark = c
	}
	return false
}

// unescapeByte returns the character for the letter after a backslash. All escapes but newlines, quotes and slashes become spaces.
func unescapeByte(c byte) byte {
	switch c {
	case 'n', 'r':
		return '\n'
	case '"', '\\', '/':
		return c
	default:
		return ' '
	}
}

// skipDecoration returns the index of the first byte after white space and the marks often put in front of messages.
func skipDecoration(text []byte, escaped bool) int {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case ' ', '\t', '\r', '\n', '"', '\'', '#', '*', '<', '>', '`', '-', '=', '_', '[', '(', '{':
		case '\\':
			if !escaped {
				return i
			}
			i++
		default:
			return i
		}
	}
	return len(text)
}

// countLines returns the number of lines that are not blank.
func countLines(text []byte, escaped bool) int {
	n := 0
	fresh := true
	for i := 0; i < len(text); i++ {
		c := text[i]
		if escaped && c == '\\' && i+1 < len(text) {
			i++
			c = unescapeByte(text[i])
		}
		switch {
		case c == '\n':
			fresh = true
		case fresh && c != ' ' && c != '\t':
			n++
			fresh = false
		}
	}
	return n
}
