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
	if path, deep := findWrong(context, "context", 1, tooDeep); deep {
		return candor.New(workrailcode.ValidationError, fmt.Sprintf("The context is nested deeper than %d levels.", maxContextDepth),
			candor.WithSuggestion("Flatten the context at the path in the details; at most 64 levels may be nested."),
			candor.WithDetails(map[string]any{"kind": "context_depth_exceeded", "tool": tool, "path": path, "maxDepth": maxContextDepth}))
	}
	if path, huge := findWrong(context, "context", 1, tooLarge); huge {
		return candor.New(workrailcode.ValidationError, "The context has a number that is out of range.",
			candor.WithSuggestion("Use a number of at most about 1.8e308 at the path in the details, or a text."),
			candor.WithDetails(map[string]any{"kind": "number_out_of_range", "tool": tool, "argument": "context", "path": path}))
	}
	text, err := jsonvalue.Append(nil, context)
	if err != nil {
		return outOfRange("context", tool, err)
	}
	if size := len(text); size > maxContextBytes {
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

// findWrong returns the path of the first value for which wrong returns true. depth is the level of v, from 1.
func findWrong(v any, path string, depth int, wrong func(v any, depth int) bool) (string, bool) {
	if wrong(v, depth) {
		return path, true
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if at, found := findWrong(v[key], cutPath(path+"."+key), depth+1, wrong); found {
				return at, true
			}
		}
	case []any:
		for i, inner := range v {
			if at, found := findWrong(inner, cutPath(fmt.Sprintf("%s[%d]", path, i)), depth+1, wrong); found {
				return at, true
			}
		}
	}
	return "", false
}

func tooDeep(_ any, depth int) bool { return depth > maxContextDepth+1 }

// tooLarge reports whether a value is a number that a float64 cannot hold: other programs would read it as infinity, or not at all.
func tooLarge(v any, _ int) bool {
	number, ok := v.(json.Number)
	if !ok {
		return false
	}
	_, err := number.Float64()
	return err != nil
}

// cutPath truncates a path; its beginning is enough to find the value.
func cutPath(path string) string { return candor.Public(path, 200) }

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
