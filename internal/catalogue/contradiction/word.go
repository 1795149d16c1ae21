package contradiction

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// gap is the strongest separator between two words.
type gap uint8

const (
	space gap = iota
	clauseEnd
	sentenceEnd
)

// skip returns the position of the next word, or len(text), and the strongest separator before it.
func skip(text string, at int) (next int, passed gap) {
	for at < len(text) {
		if text[at] == ' ' { // by far the most common
			at++
			continue
		}
		r, size := runeAt(text, at)
		if isWord(r) {
			return at, passed
		}
		passed = max(passed, gapOf(r, text[at+size:]))
		at += size
	}
	return at, passed
}

// runeAt is utf8.DecodeRuneInString with a fast path for ASCII.
func runeAt(text string, at int) (r rune, size int) {
	if c := text[at]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	return utf8.DecodeRuneInString(text[at:])
}

// gapOf returns the separator that the rune r is, given the text after it.
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

// wordEnd returns the end of the word that begins at text[at:].
func wordEnd(text string, at int) int {
	for at < len(text) {
		if asciiWord[text[at]] {
			at++
			continue
		}
		r, size := runeAt(text, at)
		if !isWord(r) && (!isApostrophe(r) || !wordFollows(text[at+size:])) {
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
		return asciiWord[r]
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// asciiWord marks the ASCII bytes that words consist of.
var asciiWord = func() (set [256]bool) {
	for _, c := range "_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" {
		set[c] = true
	}
	return set
}()

// sameWord compares a word of a text with a word of a phrase, which is in lower case and has only straight apostrophes.
func sameWord(word, of string) bool {
	at := 0
	for i := range len(of) {
		switch {
		case at < len(word) && lower(word[at]) == of[i]:
			at++
		case of[i] == '\'' && strings.HasPrefix(word[at:], "’"):
			at += len("’")
		default:
			return false
		}
	}
	return at == len(word)
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
