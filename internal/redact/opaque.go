package redact

import "strings"

// opaque reports whether v has at least least bytes and looks machine-generated: it is one word, and
// a part of it mixes letters and digits, or it is long and mixes cases, or it is half masked.
// Names, versions, dates, numbers, UUIDs and paths are not opaque.
func opaque(v string, least int) bool {
	if len(v) < least || strings.Contains(v, "://") || v[0] == '/' || v[0] == '.' || uuid(v) {
		return false
	}
	part, mixed, masked := 0, false, 0
	for i := 0; i <= len(v); i++ {
		if i < len(v) && v[i] == '*' {
			masked++
		}
		if i < len(v) && alnum.in(v[i]) {
			continue
		}
		if i < len(v) && !(token | dot | slash | plus | colon).in(v[i]) && strings.IndexByte("*~%!@#$^", v[i]) < 0 {
			return false
		}
		mixed = mixed || mixedPart(v[part:i], least)
		part = i + 1
	}
	return mixed || masked >= 3 && masked < len(v)
}

// mixedPart reports whether a run of letters and digits looks random.
func mixedPart(p string, least int) bool {
	if len(p) < min(least, 8) {
		return false
	}
	var seen class
	flips, acronym := 0, false // acronym: two capitals in a row, which the words of camelCase rarely have
	for i := range len(p) {
		seen |= classes[p[i]]
		if i > 0 && upper.in(p[i]) != upper.in(p[i-1]) {
			flips++
		}
		acronym = acronym || i > 0 && upper.in(p[i]) && upper.in(p[i-1])
	}
	letters := seen&(upper|lower) != 0
	if seen&digit != 0 {
		return letters || len(p) >= 24
	}
	return len(p) >= 20 && flips >= len(p)/4 && acronym // letters only: changes case more often than camelCase, and otherwise
}

// uuid reports whether v is a UUID in its usual form.
func uuid(v string) bool {
	if len(v) != 36 {
		return false
	}
	for i := range len(v) {
		switch i {
		case 8, 13, 18, 23:
			if v[i] != '-' {
				return false
			}
		default:
			if !hex.in(lowerByte(v[i])) {
				return false
			}
		}
	}
	return true
}
