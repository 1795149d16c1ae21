package redact

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// forbidden reports, independently of the code under test, whether a rune must not be in any result.
func forbidden(r rune) bool {
	if r == '\n' || r == '\t' {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Cs, unicode.Co, unicode.Zl, unicode.Zp, unicode.Noncharacter_Code_Point)
}

func TestNoForbiddenCharacterSurvives(t *testing.T) {
	seen := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !forbidden(r) {
			continue
		}
		seen++
		for _, s := range []string{string(r), "a" + string(r) + "b", strings.Repeat(string(r), 3) + "x"} {
			out := Text(s)
			if strings.ContainsFunc(out, forbidden) || !utf8.ValidString(out) {
				t.Fatalf("%U is left in %q", r, out)
			}
			if Text(out) != out {
				t.Fatalf("%U: %q is not stable", r, out)
			}
		}
	}
	t.Logf("%d code points", seen)
}

func TestLettersOfAllScriptsStay(t *testing.T) {
	for r := rune(0xA0); r <= unicode.MaxRune; r++ {
		if !unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) {
			continue
		}
		if s := "a " + string(r) + " b"; Text(s) != s {
			t.Fatalf("%U became %q", r, Text(s))
		}
	}
}

func TestCharacters(t *testing.T) {
	tests := []struct{ in, want string }{
		{"a\r\nb\rc", "a\nb\nc"},
		{"a\u2028b\u2029c", "a\nb\nc"},
		{"a\tb\nc", "a\tb\nc"},
		{"a\x00b\x07c\x7fd", "abcd"},
		{"\x1b[31mred\x1b[0m", "red"},
		{"\x1b[38;5;196mred\x1b[m \x1b[?25l", "red "},
		{"\x1b]8;;https://x.example\x07link\x1b]8;;\x07", "link"},
		{"\x1b]8;;https://x.example\x1b\\link\x1b]8;;\x1b\\", "link"},
		{"\x1b]0;never ends\nnext", "0;never ends\nnext"},
		{"\x1bP1$r0m\x1b\\x", "x"},
		{"\x1b(Bx\x1b=y\x1bcz", "xyz"},
		{"\x1b", ""},
		{"a\x1b\nb", "a\nb"},
		{"abc\u202edef\u202c", "abcdef"},
		{"\u2066x\u2069\u200b\u00ad\ufeff", "x"},
		{"hi\U000E0068\U000E0069", "hi"},
		{"\ue000\U000F0000\U0010FFFF\uFDD0", ""},
		{"a\xffb\xc3", "a\uFFFDb\uFFFD"},
		{"\u2764\ufe0f", "\u2764\ufe0f"},
		{"\u2764\ufe0f\ufe0f\ufe00x", "\u2764\ufe0fx"},
		{"\ufe0fx", "x"},
		{"\U0001F468\u200d\U0001F469", "\U0001F468\U0001F469"},
		{"naïve — “quoted” … 日本語", "naïve — “quoted” … 日本語"},
		{"pass\u200bword=hunter2", "password=[redacted:password]"},
		{"gh\u00adp_" + strings.Repeat("a1", 18), "[redacted:github-token]"},
		{"/ho\x00me/ann/x.txt", "…/x.txt"},
	}
	for _, tt := range tests {
		if got := Text(tt.in); got != tt.want {
			t.Errorf("Text(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// suspectAlone is like suspect, rune by rune.
func suspectAlone(s string) int {
	for i, r := range s {
		_, size := utf8.DecodeRuneInString(s[i:])
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == utf8.RuneError && size < 2 || r > 0x7f && (unsafeRune(r) || isSelector(r)) {
			return i
		}
	}
	return len(s)
}

// Eight bytes are tested together, so every byte is tested at every position among them.
func TestUnsafeByteIsSeenInAnyPlace(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			s := []byte(strings.Repeat("~ ", 10))
			s[at] = byte(c)
			if got, want := suspect(string(s), 0), suspectAlone(string(s)); got != want {
				t.Errorf("byte %#x at %d: seen at %d, want %d", c, at, got, want)
			}
		}
	}
}
