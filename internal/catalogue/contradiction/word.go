package contradiction

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// gap is the strongest thing that stands between two words.
type gap uint8

const (
	space gap = iota
	clauseEnd
	sentenceEnd
)

// skip returns where the next word begins, or len(text), and what was passed on the way.
func skip(text string, at int) (next int, passed gap) {
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if isWord(r) {
			return at, passed
		}
		passed = max(passed, gapOf(r, text[at+size:]))
		at += size
	}
	return at, passed
}

// gapOf says what the rune r ends, given the text behind it.
func gapOf(r rune, rest string) gap {
	switch r {
	case '!', '?', ';', '…':
		return sentenceEnd
	case '.':
		if next, _ := utf8.DecodeRuneInString(rest); rest == "" || unicode.IsSpace(next) || strings.ContainsRune(`)]"'’”`, next) {
			return sentenceEnd
		}
		return space
	case ',', ':', '(', ')', '–', '—', '\n', '\r':
		return clauseEnd
	default:
		return space
	}
}

// wordEnd returns where the word that begins at text[at:] ends.
func wordEnd(text string, at int) int {
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if !isWord(r) && !(isApostrophe(r) && wordFollows(text[at+size:])) {
			return at
		}
		at += size
	}
	return at
}

func wordFollows(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return text != "" && isWord(r)
}

func isApostrophe(r rune) bool { return r == '\'' || r == '’' }

func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// sameWord compares a word of a text with a word of a phrase, which is lower-case and has only
// straight apostrophes.
func sameWord(word, of string) bool {
	for len(of) > 0 {
		if strings.HasPrefix(word, "’") && of[0] == '\'' {
			word, of = word[len("’"):], of[1:]
			continue
		}
		if word == "" || lower(word[0]) != of[0] {
			return false
		}
		word, of = word[1:], of[1:]
	}
	return word == ""
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
