// Package jsonvalue works with decoded JSON values: map[string]any, []any, string, bool, nil and numbers.
//
// Numbers are compared and written exactly, by their decimal digits. A number is a [json.Number], which keeps what was
// received, or one of float64, int and int64. Any other Go type is not a JSON value. No function here panics or does I/O.
package jsonvalue

import (
	"maps"
	"slices"
	"strings"
)

// Equal reports whether two values are the same JSON: numbers by value, objects without regard to order. Values that are
// nested deeper than [MaxDepth] are never equal.
func Equal(a, b any) bool { return equal(a, b, 0) }

func equal(a, b any, depth int) bool {
	if depth > MaxDepth {
		return false
	}
	equalAny := func(a, b any) bool { return equal(a, b, depth+1) }
	switch a := a.(type) {
	case nil:
		return b == nil
	case bool:
		b, ok := b.(bool)
		return ok && a == b
	case string:
		b, ok := b.(string)
		return ok && a == b
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equalAny)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, equalAny)
	default:
		order, ok := Compare(a, b)
		return ok && order == 0
	}
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
