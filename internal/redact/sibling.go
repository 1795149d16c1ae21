package redact

import "strings"

// siblingLimit bounds how far in front of a value its name is looked for when it does not stand
// directly there.
const siblingLimit = 200

// siblings are names that say nothing themselves because the name proper stands elsewhere.
var siblings = map[string]func(s string, i int) string{
	"value": memberBefore, "Value": memberBefore, "input_value": lineBefore,
}

// siblingName returns the name that counts for a value whose own name is of no use.
func siblingName(s string, n name) string {
	find, ok := siblings[n.text]
	if !ok {
		return ""
	}
	return find(s, n.start)
}

// memberBefore reads the X of "name":"X","value":…, as lists of variables are written. i is where
// the member's name begins, behind its quote.
func memberBefore(s string, i int) string {
	if i == 0 {
		return ""
	}
	c, j := unitBefore(s, i)
	if !quote.in(c) {
		return ""
	}
	j = space.back(s, j, 2*gap)
	if j == 0 || s[j-1] != ',' {
		return ""
	}
	return nameBefore(s, j-1).text
}

// lineBefore reads the line in front of the one that holds i, if it is a single name: that is how
// Python's validators print the field whose value they refuse.
func lineBefore(s string, i int) string {
	near := s[max(0, i-siblingLimit):i]
	near, _, ok := cutLast(near, "\n")
	if !ok {
		return ""
	}
	if _, line, ok := cutLast(near, "\n"); ok {
		near = line
	}
	near = strings.TrimSpace(near)
	if ident.run(near, 0, nameLimit) < len(near) {
		return ""
	}
	return near
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
