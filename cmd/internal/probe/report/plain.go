package report

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/candor-mcp/candor/internal/truncate"
)

// plain returns one line of text in which control characters, bidi and zero-width characters, line ends and invalid bytes are written as Go
// escapes. See [block] for several lines.
func plain(s string) string { return escape(s, "") }

// block is plain for text of several lines: it keeps line ends and tabs.
func block(s string) string { return escape(strings.ReplaceAll(s, "\r\n", "\n"), "\n\t") }

// bounded is block for the first bytes of a text, cut between characters.
func bounded(s string, most int) string {
	if len(s) <= most {
		return block(s)
	}
	return block(s[:truncate.Border(s, most)]) + " …"
}

// maxMarks is the maximum number of combining marks after a letter. Languages need three; more would cover other lines.
const maxMarks = 3

func escape(s, keep string) string {
	var b strings.Builder
	marks := 0
	for i, width := 0, 0; i < len(s); i += width {
		var r rune
		r, width = utf8.DecodeRuneInString(s[i:])
		if unicode.Is(unicode.M, r) {
			marks++
		} else {
			marks = 0
		}
		switch {
		case r == utf8.RuneError && width == 1, r < ' ' && !strings.ContainsRune("\n\r\t", r):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unicode.IsPrint(r) && marks <= maxMarks, strings.ContainsRune(keep, r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}

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
