package workrail

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/jsonvalue"
	workrailcode "github.com/candor-mcp/candor/codes/workrail"
)

// The budget of a context.
const (
	maxContextBytes = 256 << 10 // as canonical JSON
	maxContextDepth = 64
	maxOutputBytes  = 256 << 10
	measuredAs      = "jcs_utf8_bytes"
)

// checkContext measures a context that a caller sent.
func checkContext(tool string, context map[string]any) *candor.Error {
	if path, deep := deepest(context, "context", 1); deep {
		return candor.New(workrailcode.ValidationError, fmt.Sprintf("The context is nested deeper than %d levels.", maxContextDepth),
			candor.WithSuggestion("Flatten the context at the path in the details; at most 64 levels may be nested."),
			candor.WithDetails(map[string]any{"kind": "context_depth_exceeded", "tool": tool, "path": path, "maxDepth": maxContextDepth}))
	}
	if path, huge := tooLarge(context, "context"); huge {
		return candor.New(workrailcode.ValidationError, "The context has a number that is out of range.",
			candor.WithSuggestion("Use a number of at most about 1.8e308 at the path in the details, or a text."),
			candor.WithDetails(map[string]any{"kind": "number_out_of_range", "tool": tool, "argument": "context", "path": path}))
	}
	size, err := measure(context)
	if err != nil {
		return outOfRange("context", tool, err)
	}
	if size > maxContextBytes {
		return candor.New(workrailcode.ValidationError, fmt.Sprintf("The context has %d bytes, and at most %d are accepted.", size, maxContextBytes),
			candor.WithSuggestion("Keep long texts in files and put their paths into the context."),
			candor.WithDetails(map[string]any{"kind": "context_budget_exceeded", "tool": tool, "measuredBytes": size, "maxBytes": maxContextBytes, "measuredAs": measuredAs}))
	}
	return nil
}

// outOfRange is the error for a value that is JSON and has a number that cannot be computed with, such as 1e999999999.
func outOfRange(argument, tool string, cause error) *candor.Error {
	return candor.New(workrailcode.ValidationError, "The "+argument+" has a number that is out of range.", candor.WithCause(cause),
		candor.WithSuggestion("Write the number with a smaller exponent, or as a string."),
		candor.WithDetails(map[string]any{"kind": "number_out_of_range", "tool": tool, "argument": argument}))
}

// measure returns the length of a value as canonical JSON.
func measure(v any) (int, error) {
	text, err := jsonvalue.Append(nil, v)
	return len(text), err
}

// deepest returns the path of a value that is nested too deep.
func deepest(v any, path string, depth int) (string, bool) {
	if depth > maxContextDepth+1 {
		return path, true
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if at, deep := deepest(v[key], cutPath(path+"."+key), depth+1); deep {
				return at, true
			}
		}
	case []any:
		for i, inner := range v {
			if at, deep := deepest(inner, cutPath(fmt.Sprintf("%s[%d]", path, i)), depth+1); deep {
				return at, true
			}
		}
	}
	return "", false
}

// tooLarge returns the path of a number that a float64 cannot hold: other programs would read it as infinity, or not at all.
func tooLarge(v any, path string) (string, bool) {
	switch v := v.(type) {
	case json.Number:
		_, err := v.Float64()
		return path, err != nil
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if at, huge := tooLarge(v[key], cutPath(path+"."+key)); huge {
				return at, true
			}
		}
	case []any:
		for i, inner := range v {
			if at, huge := tooLarge(inner, cutPath(fmt.Sprintf("%s[%d]", path, i))); huge {
				return at, true
			}
		}
	}
	return "", false
}

// cutPath truncates a path; its beginning is enough to find the value.
func cutPath(path string) string {
	return candor.Public(path, 200)
}

// contextOf decodes a context argument.
func contextOf(tool string, raw json.RawMessage) (map[string]any, *candor.Error) {
	if len(raw) == 0 {
		return nil, nil //nolint:nilnil // no context was given
	}
	var context map[string]any
	if err := decode(raw, &context); err != nil {
		return nil, candor.New(workrailcode.ValidationError, "The context is not a JSON object.", candor.WithCause(errors.New("context: want an object")))
	}
	return context, checkContext(tool, context)
}
