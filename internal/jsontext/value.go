package jsontext

import (
	"bytes"
	"strings"
)

// Equal reports whether two values are the same JSON: numbers by value, objects without regard to order. Values that are
// nested deeper than [MaxDepth] are never equal.
func Equal(a, b any) bool {
	x, err := AppendCanonical(nil, a)
	if err != nil {
		return false
	}
	y, err := AppendCanonical(nil, b)
	return err == nil && bytes.Equal(x, y)
}

// Lookup returns the value at a key such as "unit" or "unit.path", which is the member path of the object at unit.
func Lookup(object map[string]any, key string) (any, bool) {
	for {
		name, rest, more := strings.Cut(key, ".")
		v, ok := object[name]
		if !ok || !more {
			return v, ok
		}
		if object, ok = v.(map[string]any); !ok {
			return nil, false
		}
		key = rest
	}
}

// TypeName returns the JSON type of v: null, boolean, string, number, array or object.
func TypeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	default:
		return "number"
	}
}
