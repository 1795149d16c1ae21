package policy

import (
	"slices"

	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// rustToken matches comments, literals and the white space of Rust that \s does not match; its group matches words, so that
// the r at the end of a word does not begin a raw string. Nested comments end early, and raw strings have at most three
// hashes: the rest is then checked as code.
var rustToken = lazyregexp.New(`(?s)//[^\n]*|/\*.*?(?:\*/|$)` +
	`|[bc]?r"[^"]*"|[bc]?r#".*?"#|[bc]?r##".*?"##|[bc]?r###".*?"###` +
	`|"(?:[^"\\]|\\.)*(?:"|$)|'(?:[^'\\\n]|\\[^\n]{1,10}?)'` +
	`|[\v\x{85}\x{200e}\x{200f}\x{2028}\x{2029}]|([\p{L}\p{N}_]+)`)

// rustCode returns Rust source of the same length and lines with comments, literals and test code blanked.
func rustCode(text []byte) []byte {
	code := slices.Clone(text)
	for _, m := range rustToken.Get().FindAllSubmatchIndex(text, -1) {
		if m[2] < 0 {
			blank(code[m[0]:m[1]])
		}
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
