package foreign

import (
	"sort"
	"strings"

	"github.com/candor-mcp/candor/wire"
)

// Limits of the argument values that are searched for in a text.
const (
	maxValues     = 64
	minValue      = 3
	maxValueDepth = 4
)

// Values returns the strings in the arguments that are long enough to be recognised in an answer, the longest first.
func Values(args wire.Value) []string {
	var out []string
	collectValues(args, 0, &out)
	sort.SliceStable(out, func(i, k int) bool { return len(out[i]) > len(out[k]) })
	return out
}

func collectValues(v wire.Value, depth int, out *[]string) {
	if depth > maxValueDepth || len(*out) >= maxValues {
		return
	}
	switch v.Type() {
	case wire.TypeString:
		if s := strings.TrimSpace(str(v)); len(s) >= minValue {
			*out = append(*out, s)
		}
	case wire.TypeArray:
		for e := range v.Elements() {
			collectValues(e, depth+1, out)
		}
	case wire.TypeObject:
		for _, e := range v.Members() {
			collectValues(e, depth+1, out)
		}
	case wire.TypeAbsent, wire.TypeNull, wire.TypeBool, wire.TypeNumber:
	}
}

// TakeOut replaces each of the values in text by mark, unless it is part of a longer word, so that the caller's words do not count
// as the server's. A value that is one plain word, such as "file", is replaced only if it is in quotes or brackets or after a
// colon, because elsewhere it may be the server's own word.
func TakeOut(text string, values []string, mark string) string {
	for _, value := range values {
		if strings.Contains(text, value) {
			text = takeOut(text, value, mark)
		}
	}
	return text
}

func takeOut(text, value, mark string) string {
	plain := isPlainWord(value)
	var b strings.Builder
	for i := strings.Index(text, value); i >= 0; i = strings.Index(text, value) {
		end := i + len(value)
		b.WriteString(text[:i])
		if StandsAlone(text, i, end) && (!plain || isSetApart(text, i, end)) {
			b.WriteString(mark)
		} else {
			b.WriteString(value)
		}
		text = text[end:]
	}
	b.WriteString(text)
	return b.String()
}

// StandsAlone reports whether text[i:end] is not part of a longer word.
func StandsAlone(text string, i, end int) bool {
	return (i == 0 || !isAlnum(text[i]) || !isAlnum(text[i-1])) && (end == len(text) || !isAlnum(text[end-1]) || !isAlnum(text[end]))
}

// isSetApart reports whether text[i:end] is quoted, in brackets, or after a colon.
func isSetApart(text string, i, end int) bool {
	before := strings.TrimRight(text[:i], " ")
	return before != "" && (strings.IndexByte(":='\"`([<", before[len(before)-1]) >= 0 ||
		end < len(text) && strings.IndexByte("'\"`)]>", text[end]) >= 0)
}

func isAlnum(c byte) bool { return isLetter(c) || isDigit(c) }

// isPlainWord reports whether s has only letters.
func isPlainWord(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c >= 0x80 || !isLetter(byte(c)) })
}

// takenOut returns the text without the values of the arguments.
func (a *arguments) takenOut(text string) string {
	if !a.known {
		return text
	}
	if a.values == nil {
		a.values = append([]string{}, Values(a.value)...)
	}
	return TakeOut(text, a.values, " ")
}

// arguments holds the names in the request, to distinguish the name of an argument from other words.
type arguments struct {
	known bool // the caller passed arguments
	value wire.Value
	keys  map[string]string // folded name to its spelling

	values []string // set by takenOut on first use
}

const maxKeys = 256

func argumentsOf(v wire.Value) arguments {
	a := arguments{known: v.Type() == wire.TypeObject, value: v}
	if !a.known {
		return a
	}
	a.keys = make(map[string]string)
	a.collect(v, 2)
	return a
}

// collect records the names of two levels, because nested fields are named as often as top-level ones.
func (a *arguments) collect(v wire.Value, levels int) {
	for name, value := range v.Members() {
		if len(a.keys) == maxKeys {
			return
		}
		key := clip(str(name), maxPath)
		if _, ok := a.keys[Fold(key)]; !ok {
			a.keys[Fold(key)] = key
		}
		if levels > 1 {
			a.collect(value, levels-1)
		}
	}
}

// empty reports whether no argument is known.
func (a *arguments) empty() bool { return len(a.keys) == 0 }

// has reports whether there is an argument of exactly that name.
func (a *arguments) has(name string) bool { return a.keys[Fold(name)] == name && name != "" }

// spelling returns the argument that the word names, ignoring case and separators.
func (a *arguments) spelling(word string) (string, bool) {
	key, ok := a.keys[Fold(word)]
	return key, ok
}

// holds reports whether the top-level argument is a string or a number of that text.
func (a *arguments) holds(name, text string) bool {
	v, ok := a.value.Get(name)
	return ok && (v.Is(text) || v.Type() == wire.TypeNumber && string(v.Raw()) == text)
}

// sent reports whether some top-level argument is a string of that text.
func (a *arguments) sent(text string) bool {
	for _, v := range a.value.Members() {
		if v.Is(text) {
			return true
		}
	}
	return false
}

// Fold normalises a name, so that retry-after, Retry_After and retryAfter are equal.
func Fold(name string) string {
	clean := true
	for i := 0; i < len(name) && clean; i++ {
		c := name[i]
		clean = c != '_' && c != '-' && c != ' ' && (c < 'A' || c > 'Z')
	}
	if clean {
		return name
	}
	return strings.ToLower(foldNames.Replace(name))
}

var foldNames = strings.NewReplacer("_", "", "-", "", " ", "")
