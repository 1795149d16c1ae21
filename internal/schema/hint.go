package schema

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/internal/pointer"
	"github.com/candor-mcp/candor/internal/similar"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// hint suggests how to fix a finding. It depends on the caller's value and never contains it.
func (t *reporter) hint(f finding) string {
	at, has := valueAt(f.value, f.steps)
	switch k := f.what.(type) {
	case *kind.Type:
		if has && at == nil && t.isOptional(f) {
			return "leave the key out where there is no value"
		}
		if hint := retype(k.Want, at); hint != "" || at == nil {
			return hint
		}
		return t.shape(f, k.Want, at)
	case *kind.Enum:
		if text, ok := at.(string); ok {
			return didYouMean(nearest(text, texts(k.Want)))
		}
	case *kind.Required:
		if hint := t.insteadOf(f); hint != "" || len(f.instead) == 0 {
			return hint
		}
		return "or give " + orList(f.instead)
	default:
		if f.isUnknownKey() && has {
			return t.neighbours(f)
		}
	}
	return ""
}

// isOptional reports a finding about a key that the schema of its object does not ask for. It is false for a key that is described elsewhere.
func (t *reporter) isOptional(f finding) bool {
	if len(f.steps) == 0 {
		return false
	}
	key := f.steps[len(f.steps)-1]
	around, found := strings.CutSuffix(f.at, "/properties"+pointer.Of(key))
	holder := t.parts[around]
	return found && holder != nil && !slices.Contains(holder.Required, key)
}

// insteadOf names the unknown keys that were sent in place of a missing one. In an open schema they are not issues themselves.
func (t *reporter) insteadOf(f finding) string {
	const few = 3
	around := shownPath(f.steps[:len(f.steps)-1])
	unknown := slices.DeleteFunc(t.unknownKeys(&f), func(key string) bool { return t.refused[around+shownPath([]string{key})] })
	if best := nearest(f.key, unknown); len(best) > 0 {
		return quoted(best[0]) + " is not a known key, did you mean " + quoted(f.key) + "?"
	}
	switch len(unknown) {
	case 0:
		return ""
	case 1:
		return quoted(unknown[0]) + " is not a known key"
	default:
		return "not known: " + strings.Join(quotedAll(unknown[:min(len(unknown), few)]), ", ")
	}
}

// neighbours suggests the keys that an unknown one may mean.
func (t *reporter) neighbours(f finding) string {
	free := t.freeKeys(&f)
	best := nearest(f.key, slices.Collect(maps.Keys(free)))
	if len(best) == 0 {
		return knownKeys(slices.Sorted(maps.Keys(free)))
	}
	return didYouMean(best)
}

// knownKeys lists the keys that are still free, if they are few.
func knownKeys(names []string) string {
	const few = 8
	if len(names) == 0 || len(names) > few {
		return ""
	}
	return "known keys: " + strings.Join(quotedAll(names), ", ")
}

func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "did you mean " + orList(quotedAll(names)) + "?"
}

func quotedAll(names []string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = quoted(name)
	}
	return all
}

func texts(values []any) []string {
	var all []string
	for _, v := range values {
		if text, ok := v.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// maxRetyped bounds the texts that retype looks into.
const maxRetyped = 64 << 10

// retype returns a hint for the mistakes that models make with types.
func retype(want []string, got any) string {
	text, isText := got.(string)
	if len(text) > maxRetyped {
		text, isText = "", false // too expensive to parse
	}
	_, notNumber := strconv.ParseFloat(text, 64)
	switch {
	case isText && (slices.Contains(want, "integer") || slices.Contains(want, "number")) && notNumber == nil:
		return "write the number without quotes"
	case isText && slices.Contains(want, "boolean") && (text == "true" || text == "false"):
		return "write true or false without quotes"
	case isText && (slices.Contains(want, "object") || slices.Contains(want, "array")) && json.Valid([]byte(text)):
		return "send the JSON itself, not a text that holds it"
	default:
		return ""
	}
}

// maxCandidates bounds the names that are compared with a misspelt one.
const maxCandidates = 256

// nearest returns the names that are similar to key, the most similar first.
func nearest(key string, names []string) []string {
	names = slices.Sorted(slices.Values(names))
	return similar.Names(key, names[:min(len(names), maxCandidates)])
}
