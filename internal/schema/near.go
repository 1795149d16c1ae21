package schema

import (
	"cmp"
	"slices"
	"strings"
)

// What a misspelt name may have meant.
const (
	minSimilarity  = 0.6
	maxSuggestions = 3
	maxCompared    = 64  // runes; nobody misspells a longer name
	maxCandidates  = 256 // names that are looked at
)

// nearest returns the names that are most like key, the most similar first, those alike by name.
func nearest(key string, names []string) []string {
	type candidate struct {
		name  string
		score float64
	}
	var found []candidate
	names = slices.Clone(names)
	slices.Sort(names)
	for _, name := range names[:min(len(names), maxCandidates)] {
		if score := similarity(key, name); score >= minSimilarity {
			found = append(found, candidate{name, score})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.name, b.name))
	})
	var best []string
	for _, c := range found[:min(len(found), maxSuggestions)] {
		best = append(best, c.name)
	}
	return best
}

// similarity is 1 for the same name in whatever case, and falls with the share of letters that have to change.
func similarity(a, b string) float64 {
	if max(len(a), len(b)) > 4*maxCompared {
		return 0
	}
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	longer := max(len(x), len(y))
	if longer == 0 || longer > maxCompared {
		return 0
	}
	return 1 - float64(edits(x, y))/float64(longer)
}

// edits is the Levenshtein distance: letters to put in, take out or change.
func edits(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		corner := row[0]
		row[0] = i + 1
		for j := range b {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j]+1, corner+1)
		}
	}
	return row[len(b)]
}
