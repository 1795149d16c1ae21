// Package near finds known names that are similar to an unknown one.
package near

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
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
		if s := Similarity(name, k); s >= Least {
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
