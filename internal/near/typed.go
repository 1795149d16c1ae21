package near

import (
	"slices"
	"strings"
)

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
