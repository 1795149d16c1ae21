package contract

// line is the beginning of a text, lower-cased and cut into words, without any allocation. Failure messages say
// what they are early; what stands behind the first few hundred bytes is data.
type line struct {
	buf   [lineBytes]byte
	words [lineWords]word
	n     int // words used
}

const (
	lineBytes = 320
	lineWords = 64
)

// word is one word of a line, with the punctuation that follows it.
type word struct {
	from, to uint16
	mark     byte // the first punctuation character behind it, or 0
}

func (l *line) word(i int) []byte { return l.buf[l.words[i].from:l.words[i].to] }

// echoWord stands in a line for a piece that only repeats the arguments of the call.
const echoWord = '\x1a'

// placeWord stands in a line for a URL, a path or a file name that the call did not mention.
const placeWord = '\x1b'

// isWordByte tells what words are made of. Bytes of other scripts count as letters; the table of foreign phrases looks for
// them as substrings.
func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 0x80 || c == '\'' || c == '_' || c == echoWord || c == placeWord
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// read fills the line from text, up to its first line end, and returns what follows. Decoration in front of the first
// word (quotes, bullets, markdown) is skipped. Escaped text is read as it stands in a JSON string.
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
			c = '"' // a closing quote, no apostrophe
		}
		l.buf[n] = c
		open = l.step(c, n, open)
		n++
	}
	if open && l.n < lineWords {
		l.words[l.n].to = uint16(n) //nolint:gosec // n is at most lineBytes
		l.n++
	}
	return text[min(i, len(text)):]
}

// step takes one character: it opens, extends or closes a word.
func (l *line) step(c byte, n int, open bool) bool {
	if isWordByte(c) {
		if !open && l.n < lineWords {
			l.words[l.n] = word{from: uint16(n)} //nolint:gosec // n is at most lineBytes
		}
		return true
	}
	if open && l.n < lineWords {
		l.words[l.n].to = uint16(n) //nolint:gosec // n is at most lineBytes
		l.n++
	}
	// A hyphen inside a name, as in error-budget.md, is no punctuation.
	if c != ' ' && l.n > 0 && l.words[l.n-1].mark == 0 && !(open && c == '-') {
		l.words[l.n-1].mark = c
	}
	return false
}

// unescapeByte maps the letter behind a backslash; only the line end matters here, the rest is a gap between words.
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

// skipDecoration passes over white space and the marks people put in front of messages.
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

// countLines counts the lines that hold anything.
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
