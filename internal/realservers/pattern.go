package realservers

import (
	"bytes"
	"encoding/json"
	"regexp"
)

// varies stands for a place in which a server that was asked twice said two things: a time, a random id.
type varies struct{}

// sentence is a text as its words and what is between them, so that one changing word does not hide the others.
type sentence []any

var wordOrGap = regexp.MustCompile(`[\w.:+-]+|[^\w.:+-]+`)

// pattern returns what two answers have in common; [varies] is where they differ.
func pattern(a, b any) any {
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok && sameKeys(a, b) {
			out := map[string]any{}
			for key := range a {
				out[key] = pattern(a[key], b[key])
			}
			return out
		}
	case []any:
		if b, ok := b.([]any); ok && len(a) == len(b) {
			return patterns(a, b)
		}
	case string:
		if b, ok := b.(string); ok && a != b {
			if one, two := split(a), split(b); len(one) == len(two) {
				return sentence(patternWords(one, two))
			}
		}
	}
	if isScalar(a) && isScalar(b) && a == b {
		return a
	}
	return varies{}
}

func patterns(a, b []any) []any {
	out := make([]any, len(a))
	for i := range a {
		out[i] = pattern(a[i], b[i])
	}
	return out
}

func patternWords(a, b []any) []any {
	out := make([]any, len(a))
	for i := range a {
		out[i] = varies{}
		if a[i] == b[i] {
			out[i] = a[i]
		}
	}
	return out
}

// fits reports whether a third answer has what the first two had in common.
func fits(p, v any) bool {
	switch p := p.(type) {
	case varies:
		return true
	case sentence:
		text, ok := v.(string)
		return ok && fits([]any(p), split(text))
	case map[string]any:
		v, ok := v.(map[string]any)
		if !ok || !sameKeys(p, v) {
			return false
		}
		for key := range p {
			if !fits(p[key], v[key]) {
				return false
			}
		}
		return true
	case []any:
		v, ok := v.([]any)
		if !ok || len(p) != len(v) {
			return false
		}
		for i := range p {
			if !fits(p[i], v[i]) {
				return false
			}
		}
		return true
	}
	return isScalar(v) && p == v
}

func split(text string) []any {
	var out []any
	for _, word := range wordOrGap.FindAllString(text, -1) {
		out = append(out, word)
	}
	return out
}

func isScalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

func sameKeys(a, b map[string]any) bool {
	for key := range a {
		if _, ok := b[key]; !ok {
			return false
		}
	}
	return len(a) == len(b)
}

// decode keeps numbers as they are written.
func decode(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}
