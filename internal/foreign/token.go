package foreign

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is one word, quotation, number or mark of a text.
type token struct {
	text string // without quotes
	low  string
	kind kind
	at   int  // where it begins, including quotes
	end  int  // index of the next byte
	head bool // first of a sentence or line
}

type kind uint8

const (
	kindWord kind = iota
	kindQuoted
	kindNumber
	kindMark
	kindURL
)

// maxTokens limits the work on one text; 8 KiB of prose has about 1,500.
const maxTokens = 4096

// tokens splits a text and caches the result, because several readers use the same text. Callers must not change it.
func (r *reader) tokens(s string) []token {
	if r.toks == nil || r.cut != s {
		r.cut, r.toks = s, tokens(s)
	}
	return r.toks
}

// tokens splits a text. Scripts without spaces are split from Latin words, so that a name inside a Chinese sentence is a separate
// token.
func tokens(s string) []token {
	out := make([]token, 0, min(len(s)/5+4, maxTokens)) // the usual number in prose
	head := true
	for i := 0; i < len(s) && len(out) < maxTokens; {
		size := gapAt(s, i)
		if size > 0 {
			head = head || s[i] == '\n'
			i += size
			continue
		}
		t := tokenAt(s, i)
		t.head, t.low = head, strings.ToLower(t.text)
		head = t.kind == kindMark && strings.ContainsAny(t.text, ".!?;:—✖❌•>")
		out, i = append(out, t), t.end
	}
	return out
}

// spaceless reports whether a token is a word of a script that is written without spaces.
func (t token) spaceless() bool {
	c, _ := utf8.DecodeRuneInString(t.text)
	return t.kind == kindWord && isSpaceless(c)
}

// gapAt returns the length of the gap between tokens at i: white space, a backslash, or a plural in brackets.
func gapAt(s string, i int) int {
	switch {
	case s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r' || s[i] == '\\':
		return 1
	case strings.HasPrefix(s[i:], "(s)") && i > 0 && isLetter(s[i-1]):
		return 3
	}
	return 0
}

func tokenAt(s string, i int) token {
	if end := urlEnd(s, i); end > i {
		return token{text: s[i:end], kind: kindURL, at: i, end: end}
	}
	if inside, end, ok := quotedAt(s, i); ok {
		return token{text: inside, kind: kindQuoted, at: i, end: end}
	}
	if end := wordEnd(s, i); end > i {
		return token{text: s[i:end], kind: wordKind(s[i:end]), at: i, end: end}
	}
	_, size := utf8.DecodeRuneInString(s[i:])
	return token{text: s[i : i+size], kind: kindMark, at: i, end: i + size}
}

func urlEnd(s string, i int) int {
	if !strings.HasPrefix(s[i:], "http://") && !strings.HasPrefix(s[i:], "https://") {
		return i
	}
	n := strings.IndexAny(s[i:], " \n\t\"'`<>)")
	if n < 0 {
		n = len(s) - i
	}
	return i + len(strings.TrimRight(s[i:i+n], ".,;:"))
}

// closingQuotes are the closing marks of opening quotes.
var closingQuotes = map[rune]rune{'"': '"', '\'': '\'', '`': '`', '“': '”', '‘': '’', '«': '»', '「': '」', '『': '』', '„': '“'}

const maxQuoted = 96

func quotedAt(s string, i int) (inside string, end int, ok bool) {
	open, size := utf8.DecodeRuneInString(s[i:])
	closing := closingQuotes[open]
	if closing == 0 || open == '\'' && i > 0 && isLetter(s[i-1]) {
		return "", i, false
	}
	rest := clip(s[i+size:], maxQuoted)
	n := strings.IndexRune(rest, closing)
	if n <= 0 || strings.ContainsRune(rest[:n], '\n') || strings.Trim(rest[:n], " \\\u00a0\u202f") == "" {
		return "", i, false
	}
	return strings.Trim(strings.TrimSuffix(rest[:n], "\\"), " \u00a0\u202f"), i + size + n + utf8.RuneLen(closing), true
}

// wordEnd returns the end of a word: letters and digits, with single joining marks as in a.b[0] and x-y.
func wordEnd(s string, i int) int {
	start := i
	spaceless, open := false, false
	for i < len(s) {
		c, size := utf8.DecodeRuneInString(s[i:])
		if !isWordRune(c) {
			if i > start && !spaceless && joins(s, i) && (s[i] != ']' || open) {
				open = open || s[i] == '['
				i++
				continue
			}
			break
		}
		if is := isSpaceless(c); i == start {
			spaceless = is
		} else if is != spaceless {
			break
		}
		i += size
	}
	return i
}

func isWordRune(c rune) bool {
	return c == '_' || c == '$' || c == '@' || unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.Is(unicode.Mn, c)
}

// joins reports whether the mark at i joins two parts of one name.
func joins(s string, i int) bool {
	if i+1 >= len(s) {
		return false
	}
	next := s[i+1]
	switch s[i] {
	case '\'':
		return next == 't' && i > 0 && isLetter(s[i-1]) && (i+2 == len(s) || !isLetter(s[i+2]))
	case '.', '-':
		return isLetter(next) || isDigit(next) || next == '_'
	case '[':
		n := strings.IndexByte(clip(s[i:], 8), ']')
		return n > 1 && isIndex(s[i+1:i+n])
	case ']':
		return next == '.' || next == '[' || next == ':' || next == ' '
	}
	return false
}

func wordKind(w string) kind {
	if isDigit(w[0]) && strings.Trim(w, "0123456789.") == "" {
		return kindNumber
	}
	return kindWord
}

func isSpaceless(c rune) bool {
	return c == 0x30fc || c > 0x2e80 && unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isUpper(c byte) bool  { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool  { return c >= 'a' && c <= 'z' }
