package foreign

import (
	"slices"
	"strings"
	"unicode"
)

// compound reads two bare words as one, if the request has an argument that is called so: "time zone" speaks of timezone or
// sourceTimezone, even where there is a time as well. Of several such arguments those are meant whose value is told; if none
// is, the words name nothing.
func (r *reader) compound(toks []token, i int) (names []string, found bool) {
	if i+1 >= len(toks) || !isBare(toks[i]) || !isBare(toks[i+1]) || toks[i+1].head {
		return nil, false
	}
	both := fold(toks[i].low + toks[i+1].low)
	if name, ok := r.args.keys[both]; ok {
		return []string{name}, true
	}
	if generic[toks[i+1].low] || kinds[toks[i+1].low] {
		return nil, false // "time value" is a time
	}
	var all []string
	for folded, name := range r.args.keys {
		if !strings.HasSuffix(folded, both) {
			continue
		}
		if all = append(all, name); r.told(name) {
			names = append(names, name)
		}
	}
	if len(all) == 1 {
		return all, true
	}
	slices.Sort(names)
	return names, len(all) > 0
}

// isBare reports a word of prose: lower case but for its first letter, and without marks.
func isBare(t token) bool {
	return t.kind == kindWord && len(t.text) > 2 && t.low[1:] == t.text[1:] && strings.IndexFunc(t.text, func(c rune) bool { return !unicode.IsLetter(c) }) < 0
}

// told reports whether the text tells the value of a top-level argument.
func (r *reader) told(name string) bool {
	v, _ := r.args.value.Get(name)
	text, ok := v.Str()
	return ok && len(text) > 1 && strings.Contains(r.cut, text)
}

func compoundStep(names []string, i int) []step {
	if len(names) == 0 {
		return nil
	}
	return []step{{names: names, next: i + 2}}
}
