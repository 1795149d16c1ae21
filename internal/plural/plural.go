// Package plural writes numbers with their nouns.
package plural

import "fmt"

// Count returns n with the singular or the plural of a noun.
func Count[N ~int | ~int64 | ~uint64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Of is [Count] for a noun whose plural ends in s.
func Of[N ~int | ~int64 | ~uint64](n N, noun string) string { return Count(n, noun, noun+"s") }
