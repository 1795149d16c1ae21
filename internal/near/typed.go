package near

import (
	"slices"
	"strings"
)

// Typed is [Names] for what a person types, who may know only the beginning of a name or one of its words: such names follow, by
// name, as long as there are fewer than [Most]. No name is there twice, even if it is known twice.
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

// leastTyped is how many bytes say anything about what follows them.
const leastTyped = 3

func isShortFor(word, name string) bool {
	return strings.HasPrefix(name, word) || slices.Contains(strings.FieldsFunc(name, isJoint), word)
}

func isJoint(r rune) bool { return r == '_' || r == '-' || r == '/' }
