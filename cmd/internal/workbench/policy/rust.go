package policy

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// rustCode returns Rust source of the same length and lines with comments, literals and test code blanked.
func rustCode(text []byte) []byte {
	code := slices.Clone(text)
	for at := 0; at < len(text); {
		n, hide := rustToken(text, at)
		if hide {
			blank(code[at : at+n])
		}
		at += n
	}
	hideTests(code)
	return code
}

// blank replaces all bytes but line ends with spaces.
func blank(b []byte) {
	for i, c := range b {
		if c != '\n' {
			b[i] = ' '
		}
	}
}

// rustToken returns the length of the token at an offset, at least 1, and whether it is a comment or a literal.
func rustToken(text []byte, at int) (n int, hide bool) {
	rest := text[at:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			return end, true
		}
		return len(rest), true
	case bytes.HasPrefix(rest, []byte("/*")):
		return commentLength(rest), true
	case rest[0] == '"':
		return quotedLength(rest, '"'), true
	case rest[0] == '\'':
		n := charLength(rest)
		return n, n > 1
	case oddSpace(rest) > 0:
		return oddSpace(rest), true
	case rest[0] == 'r':
		if n := rawLength(rest); n > 0 {
			return n, true
		}
	}
	if word(rest[0]) { // a whole word, so that an r at its end does not open a raw string
		n := 1
		for n < len(rest) && word(rest[n]) && oddSpace(rest[n:]) == 0 {
			n++
		}
		if prefix := rest[0]; n == 2 && (prefix == 'b' || prefix == 'c') && rest[1] == 'r' {
			return 1, false // br"…" and cr"…"
		}
		return n, false
	}
	return 1, false
}

func word(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

// oddSpaces lists the white space of Rust that \s in a pattern does not match.
var oddSpaces = [][]byte{[]byte("\v"), []byte("\u0085"), []byte("\u200e"), []byte("\u200f"), []byte("\u2028"), []byte("\u2029")}

// oddSpace returns the length of the odd space that a text begins with, or 0.
func oddSpace(text []byte) int {
	for _, space := range oddSpaces {
		if bytes.HasPrefix(text, space) {
			return len(space)
		}
	}
	return 0
}

// commentLength returns the length of a block comment, which may contain nested comments.
func commentLength(text []byte) int {
	depth := 0
	for i := 0; i+1 < len(text); i++ {
		switch {
		case text[i] == '/' && text[i+1] == '*':
			depth++
			i++
		case text[i] == '*' && text[i+1] == '/':
			depth--
			i++
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(text)
}

// quotedLength returns the length of a quoted literal, in which a backslash escapes the next character.
func quotedLength(text []byte, quote byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case quote:
			return i + 1
		}
	}
	return len(text)
}

// charLength returns the length of a character literal, or 1 if the quote begins a lifetime.
func charLength(text []byte) int {
	if len(text) < 3 {
		return 1
	}
	if text[1] == '\\' {
		return quotedLength(text, '\'')
	}
	_, n := utf8.DecodeRune(text[1:])
	if len(text) > 1+n && text[1+n] == '\'' {
		return n + 2
	}
	return 1
}

// rawLength returns the length of r"…" or r#"…"#, or 0 for a raw identifier such as r#type.
func rawLength(text []byte) int {
	hashes := 0
	for 1+hashes < len(text) && text[1+hashes] == '#' {
		hashes++
	}
	open := 1 + hashes
	if open >= len(text) || text[open] != '"' {
		return 0
	}
	end := append([]byte{'"'}, bytes.Repeat([]byte{'#'}, hashes)...)
	if at := bytes.Index(text[open+1:], end); at >= 0 {
		return open + 1 + at + len(end)
	}
	return len(text)
}

var (
	// testFile matches only before all code; further down the attribute applies to a module.
	testFile = lazyregexp.New(`^\s*(?:#\s*!\s*\[[^\]]*\]\s*)*?#\s*!\s*\[\s*cfg\s*\(\s*test\s*\)\s*\]`)
	testItem = lazyregexp.New(`#\s*\[\s*(?:cfg\s*\(\s*(?:all\s*\(\s*)?test\s*[,)][^\]]*|test\s*)\]`)
	// item matches the beginning of an item. Fields, arms and arguments do not match and end with a comma.
	item = lazyregexp.New(`^\s*(?:#\s*\[[^\]]*\]\s*)*(?:pub\b\s*(?:\([^)]*\)\s*)?)?(?:(?:const|async|unsafe|extern|default)\s+)*` +
		`(?:fn|mod|use|struct|enum|union|impl|trait|type|static|let|const|crate|macro_rules)\b`)
)

// hideTests blanks code that is compiled for tests only: the item after #[cfg(test)] or #[test], to its end.
func hideTests(code []byte) {
	if testFile.Match(code) {
		blank(code)
		return
	}
	for from := 0; ; {
		m := testItem.Get().FindIndex(code[from:])
		if m == nil {
			return
		}
		end := from + m[1] + itemLength(code[from+m[1]:])
		blank(code[from+m[0] : end])
		from = end
	}
}

// itemLength returns the length of the item: up to its semicolon, the brace that closes its first one, or the end of the
// enclosing block.
func itemLength(code []byte) int {
	depth, whole := 0, item.Match(code)
	for i, c := range code {
		switch c {
		case ';', ',':
			if depth == 0 && (c == ';' || !whole) {
				return i + 1
			}
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return i
			}
			if depth == 0 && c == '}' {
				return i + 1
			}
		}
	}
	return len(code)
}
