package main

import (
	"slices"
	"strings"
)

// nearest returns up to n words of the list that may have been meant by got, the closest first.
func nearest(got string, list []string, n int) []string {
	type match struct {
		word string
		far  int
	}
	got = strings.ToLower(got)
	var close []match
	for _, word := range list {
		if far := distance(got, strings.ToLower(word)); far <= reach(got) {
			close = append(close, match{word, far})
		}
	}
	slices.SortStableFunc(close, func(a, b match) int { return a.far - b.far })
	var out []string
	for _, m := range close[:min(n, len(close))] {
		out = append(out, m.word)
	}
	return out
}

// reach is how many slips of the finger a word of that length may hold.
func reach(word string) int { return min(3, 1+len(word)/5) }

// distance counts the slips between two words: a letter too many, too few, wrong, or two swapped. A word that the other one
// begins with, or that is one of its parts, is close whatever its length.
func distance(a, b string) int {
	if len(a) >= 3 && (strings.HasPrefix(b, a) || slices.Contains(strings.FieldsFunc(b, isJoint), a)) {
		return 1
	}
	before, above := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+differs(a[i-1], b[j-1]))
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above = above, row
	}
	return above[len(b)]
}

func differs(a, b byte) int {
	if a == b {
		return 0
	}
	return 1
}

func isJoint(r rune) bool { return r == '_' || r == '-' || r == '/' }
