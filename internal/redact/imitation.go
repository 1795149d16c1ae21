package redact

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// FoldLines replaces the line ends of a foreign text that would make it look like lines of the readable block: Retry, Next, Ref or a
// code. Such a text is shown where a client shows only the message of a JSON-RPC error.
func FoldLines(text string) string {
	if !strings.ContainsAny(text, "\n\v\f\r\u0085\u2028\u2029") {
		return text
	}
	lines := strings.Split(clean(otherLineEnds.Replace(text)), "\n")
	folded, kept := false, lines[:1]
	for _, line := range lines[1:] {
		if !Imitates(line) {
			kept = append(kept, line)
			continue
		}
		for len(kept) > 1 && strings.TrimSpace(kept[len(kept)-1]) == "" {
			kept = kept[:len(kept)-1]
		}
		last := &kept[len(kept)-1]
		*last, folded = strings.TrimSpace(strings.TrimRightFunc(*last, unicode.IsSpace)+" "+strings.TrimLeftFunc(line, unicode.IsSpace)), true
	}
	if !folded {
		return text
	}
	return strings.Join(kept, "\n")
}

// otherLineEnds replaces characters that a reader may take for the end of a line, and that clean removes.
var otherLineEnds = strings.NewReplacer("\v", "\n", "\f", "\n", "\u0085", "\n")

// colons are characters that look like a colon.
const colons = ":\u02d0\u02f8\u0589\u05c3\u2236\ua789\ufe13\ufe55\uff1a"

// maxHead is the length from which the beginning of a line no longer looks like a label or a code.
const maxHead = 256

// ourLabels begin lines of the readable block.
var ourLabels = []string{"retry", "next", "ref", "server says"}

// Imitates reports whether a line looks like one of the readable block, with any decoration and in letters that look
// alike.
func Imitates(line string) bool {
	end := strings.IndexAny(line, colons)
	if end < 0 || end > maxHead {
		return false
	}
	head := strings.Map(func(r rune) rune {
		switch {
		case '\uff01' <= r && r <= '\uff5e':
			return r - '\uff01' + '!' // a full-width character
		case unicode.IsMark(r):
			return -1
		case unicode.IsSpace(r):
			return ' '
		default:
			return r
		}
	}, clean(line[:end]))
	head = strings.TrimFunc(head, func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.ContainsFunc(ourLabels, func(label string) bool { return looksLike(strings.ToLower(head), label) }) || looksLikeCode(head)
}

// looksLike compares a text with a label. Any letter of another alphabet counts as equal, if the text has a letter in
// common or is written in letters of mathematics.
func looksLike(text, label string) bool {
	if utf8.RuneCountInString(text) != len(label) {
		return false
	}
	i, common := 0, false
	for _, r := range text {
		if r < utf8.RuneSelf && r != rune(label[i]) {
			return false
		}
		common = common || r < utf8.RuneSelf || r > 0xffff
		i++
	}
	return common
}

// looksLikeCode reports whether a text looks like the symbol of a code.
func looksLikeCode(text string) bool {
	const least = 3
	capitals := 0
	for _, r := range text {
		switch {
		case 'A' <= r && r <= 'Z':
			capitals++
		case r != '_' && !unicode.IsDigit(r) && (r < utf8.RuneSelf || !unicode.IsUpper(r)):
			return false
		}
	}
	return capitals > 0 && utf8.RuneCountInString(text) >= least
}
