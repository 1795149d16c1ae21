package report

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/candor-mcp/candor/cmd/internal/page"
)

// plain is [page.Line].
func plain(s string) string { return page.Line(s) }

// block is [page.Block].
func block(s string) string { return page.Block(s) }

// bounded is [page.Bounded].
func bounded(s string, most int) string { return page.Bounded(s, most) }

// shorten cuts the middle of a text that is wider than limit columns. The end stays, because it often has the reason of a failure.
func shorten(s string, columns int) string {
	if columnsOf(s) <= columns {
		return s
	}
	head := columns * 3 / 4
	left, right := prefix(s, head-2), suffix(s, columns-head-1)
	return strings.TrimRight(left, " ") + " … " + strings.TrimLeft(right, " ")
}

// ends removes the middle of a text of which only the ends are shown, so that it is not processed.
func ends(s string) string {
	const each = 4 * maxWidth * utf8.UTFMax
	if len(s) <= 2*each {
		return s
	}
	return strings.ToValidUTF8(s[:each], "") + "…" + strings.ToValidUTF8(s[len(s)-each:], "")
}

// prefix returns the start of a text that fits into the given columns.
func prefix(s string, columns int) string {
	for i, r := range s {
		columns -= columnsOfRune(r)
		if columns < 0 {
			return s[:i]
		}
	}
	return s
}

// suffix returns the end of a text that fits into the given columns.
func suffix(s string, columns int) string {
	i := len(s)
	for i > 0 {
		r, width := utf8.DecodeLastRuneInString(s[:i])
		columns -= columnsOfRune(r)
		if columns < 0 {
			break
		}
		i -= width
	}
	return s[i:]
}

// columnsOf returns the width in terminal columns of a text that [plain] returned.
func columnsOf(s string) int {
	n := 0
	for _, r := range s {
		n += columnsOfRune(r)
	}
	return n
}

func columnsOfRune(r rune) int {
	switch {
	case unicode.Is(unicode.M, r):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// wide are the Unicode blocks of characters that take two columns (East Asian Width W or F).
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115f, Stride: 1}, // Hangul Jamo
		{Lo: 0x2e80, Hi: 0xa4cf, Stride: 1}, // CJK, Kana, Yi
		{Lo: 0xac00, Hi: 0xd7a3, Stride: 1}, // Hangul
		{Lo: 0xf900, Hi: 0xfaff, Stride: 1}, // CJK
		{Lo: 0xfe30, Hi: 0xfe6f, Stride: 1}, // CJK forms
		{Lo: 0xff00, Hi: 0xff60, Stride: 1}, // full width
		{Lo: 0xffe0, Hi: 0xffe6, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x1f300, Hi: 0x1faff, Stride: 1}, // pictures
		{Lo: 0x20000, Hi: 0x3fffd, Stride: 1}, // CJK
	},
}

// wrap breaks a text into lines of at most the given columns, at spaces if possible. It returns at least one line.
func wrap(s string, columns int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		switch {
		case line == "":
			line = word
		case columnsOf(line)+1+columnsOf(word) <= columns:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
		for columnsOf(line) > columns {
			head := prefix(line, columns)
			if head == "" { // a character wider than the line
				break
			}
			lines = append(lines, head)
			line = line[len(head):]
		}
	}
	return append(lines, line)
}
