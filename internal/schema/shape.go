package schema

import (
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// shape says what to send instead of a value of another type: a list of the items, or an object with the keys that the schema names.
func (t *reporter) shape(f finding, want []string, got any) string {
	var ways []string
	parts := t.alternativesAt(f.at)
	if slices.Contains(want, "array") {
		switch words := t.listWords(parts, got); {
		case words != "":
			ways = append(ways, "a list of "+words)
		case len(want) == 1:
			return "put it in a list"
		default:
			ways = append(ways, "a list with it")
		}
	}
	if keys := keyWords(parts); keys != "" && slices.Contains(want, "object") {
		ways = append(ways, "an object "+keys)
	}
	if len(ways) == 0 {
		return ""
	}
	return "send " + strings.Join(ways, " or ")
}

// listWords describes the items of a list, or returns "" if the value may be one.
func (t *reporter) listWords(parts []*jsonschema.Schema, got any) string {
	for _, part := range parts {
		for _, item := range itemSchemas(part, 0) {
			if words, fits := t.itemWords(item, got); !fits {
				return words
			}
		}
	}
	return ""
}

// alternativesAt returns the schemas at a location and the alternatives in them.
func (t *reporter) alternativesAt(at string) []*jsonschema.Schema {
	part := t.parts[at]
	if part == nil {
		return nil
	}
	parts := unconditional(part)
	for _, p := range parts[:len(parts):len(parts)] {
		for _, branch := range slices.Concat(p.AnyOf, p.OneOf) {
			parts = append(parts, unconditional(branch)...)
		}
	}
	return parts
}

// itemWords describes the items of a list, and reports whether the value has the type of one.
func (t *reporter) itemWords(item *jsonschema.Schema, got any) (words string, fits bool) {
	parts := t.alternativesAt(item.Location)
	var types []string
	for _, part := range parts {
		if part.Types != nil {
			types = append(types, part.Types.ToStrings()...)
		}
	}
	if is := typeAt(got, nil); len(types) == 0 || slices.Contains(types, is) || is == "number" && slices.Contains(types, "integer") {
		return "", true
	}
	if keys := keyWords(parts); keys != "" {
		return keys, false
	}
	return types[0] + "s", false
}

// keyWords names the keys of an object, the required ones if there are any, or returns "".
func keyWords(parts []*jsonschema.Schema) string {
	const most = 6
	var keys []string
	for _, part := range parts {
		keys = append(keys, part.Required...)
	}
	if len(keys) == 0 {
		for _, part := range parts {
			keys = slices.AppendSeq(keys, maps.Keys(part.Properties))
		}
		slices.Sort(keys)
	}
	for i := len(keys) - 1; i >= 0; i-- {
		if slices.Contains(keys[:i], keys[i]) {
			keys = slices.Delete(keys, i, i+1)
		}
	}
	if len(keys) == 0 || len(keys) > most {
		return ""
	}
	for i, key := range keys {
		keys[i] = cleanKey(key)
	}
	return "{" + strings.Join(keys, ", ") + "}"
}
