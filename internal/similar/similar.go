// Package similar finds known names that are similar to an unknown one.
package similar

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// Least is the similarity below which a name is not suggested.
	Least = 0.6
	// Most is the maximum number of suggested names.
	Most = 3
	// maxLen bounds the work on a hostile name, in bytes.
	maxLen = 64
)

// Names returns at most [Most] of the known names with a [Similarity] of at least [Least], the most similar first and equally
// similar ones by name. For a name that is too long to be a typo the result is empty.
func Names(name string, known []string) []string {
	type scored struct {
		name  string
		score float64
	}
	var found []scored
	for _, k := range known {
		if s := max(Similarity(name, k), similarityOfWords(name, k)); s >= Least {
			found = append(found, scored{k, s})
		}
	}
	slices.SortFunc(found, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.name, b.name))
	})
	names := make([]string, 0, Most)
	for _, f := range found[:min(len(found), Most)] {
		names = append(names, f.name)
	}
	return names
}

// Similarity returns 1 minus the edit distance divided by the longer length, from 0 to 1. It ignores case, underscores and hyphens.
func Similarity(a, b string) float64 {
	if len(a) > maxLen || len(b) > maxLen {
		return 0
	}
	x, y := []rune(fold(a)), []rune(fold(b))
	longer := max(len(x), len(y))
	if longer == 0 {
		return 1
	}
	return 1 - float64(distance(x, y))/float64(longer)
}

// similarityOfWords is the similarity of names whose words are in another order, such as read_file_text and read_text_file. It is 0 for a single
// word, and below 1 otherwise.
func similarityOfWords(a, b string) float64 {
	const reordered = 0.95
	if len(a) > maxLen || len(b) > maxLen {
		return 0
	}
	x, y := strings.FieldsFunc(a, isJoint), strings.FieldsFunc(b, isJoint)
	if len(x) < 2 || len(x) != len(y) {
		return 0
	}
	slices.Sort(x)
	slices.Sort(y)
	return reordered * Similarity(strings.Join(x, ""), strings.Join(y, ""))
}

var spelling = strings.NewReplacer("_", "", "-", "")

func fold(s string) string { return spelling.Replace(strings.ToLower(s)) }

// distance counts insertions, deletions, replacements and swaps of neighbours.
func distance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// Quote formats names for a sentence: "a", "b" or "c".
func Quote(names []string) string {
	var text strings.Builder
	for i, name := range names {
		switch {
		case i > 0 && i == len(names)-1:
			text.WriteString(" or ")
		case i > 0:
			text.WriteString(", ")
		}
		if !utf8.ValidString(name) {
			name = strings.ToValidUTF8(name, "\uFFFD")
		}
		text.WriteString(strconv.Quote(name))
	}
	return text.String()
}

// Hint returns a question with the similar names, such as: did you mean "a" or "b"? If none is similar, it returns otherwise.
func Hint(name string, known []string, otherwise string) string {
	if names := Names(name, known); len(names) > 0 {
		return "did you mean " + Quote(names) + "?"
	}
	return otherwise
}

// Lengths from which one and two edits count as a misspelling, in characters of the shorter name.
const (
	oneSlip  = 3
	twoSlips = 7
)

// Misspelt reports whether name is probably a misspelling of known. It is stricter than [Names], because a caller may refuse a name
// because of it: it allows at most one insertion, deletion, replacement or swap of neighbours, two in longer names. It ignores case,
// underscores and hyphens. Names that differ only in their digits, such as line1 and line2, are different names.
func Misspelt(name, known string) bool {
	if len(name) > maxLen || len(known) > maxLen {
		return false
	}
	a, b := fold(name), fold(known)
	if a == b {
		return true
	}
	if withoutDigits(a) == withoutDigits(b) {
		return false
	}
	x, y := []rune(a), []rune(b)
	switch shorter := min(len(x), len(y)); {
	case shorter < oneSlip:
		return false
	case shorter < twoSlips:
		return distance(x, y) <= 1
	default:
		return distance(x, y) <= 2
	}
}

func withoutDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, s)
}

// Typed is like [Names] for a word that a person types, which may be only the beginning of a name or one of its words: such names
// follow in alphabetical order, up to a total of [Most]. The result has no duplicates, even if known has some.
func Typed(word string, known []string) []string {
	known = slices.Compact(slices.Sorted(slices.Values(known)))
	found := Names(word, known)
	if len(word) < leastTyped || len(word) > maxLen {
		return found
	}
	word = strings.ToLower(word)
	for _, k := range known {
		if len(found) == Most {
			break
		}
		if isShortFor(word, strings.ToLower(k)) && !slices.Contains(found, k) {
			found = append(found, k)
		}
	}
	return found
}

// leastTyped is the length in bytes from which a word is used as a prefix.
const leastTyped = 3

func isShortFor(word, name string) bool {
	return strings.HasPrefix(name, word) || slices.Contains(strings.FieldsFunc(name, isJoint), word)
}

func isJoint(r rune) bool { return r == '_' || r == '-' || r == '/' }
