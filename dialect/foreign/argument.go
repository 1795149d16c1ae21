package foreign

import (
	"strings"

	"github.com/candor-mcp/candor/wire"
)

// arguments are the names in the request, for telling the name of an argument from another word.
type arguments struct {
	known bool // the caller passed arguments
	value wire.Value
	keys  map[string]string // folded name to its spelling

	values []string // by takenOut; nil until they are needed
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

// collect takes the names of two levels: nested fields are named as often as top ones.
func (a *arguments) collect(v wire.Value, levels int) {
	for name, value := range v.Members() {
		if len(a.keys) == maxKeys {
			return
		}
		key := clip(str(name), maxPath)
		if _, ok := a.keys[fold(key)]; !ok {
			a.keys[fold(key)] = key
		}
		if levels > 1 {
			a.collect(value, levels-1)
		}
	}
}

// empty reports that no argument is known to have been sent.
func (a *arguments) empty() bool { return len(a.keys) == 0 }

// has reports an argument of exactly that name.
func (a *arguments) has(name string) bool { return a.keys[fold(name)] == name && name != "" }

// spelling returns the argument that the word names, however it is written.
func (a *arguments) spelling(word string) (string, bool) {
	key, ok := a.keys[fold(word)]
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

// fold makes names comparable: retry-after, Retry_After and retryAfter are one.
func fold(name string) string {
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
