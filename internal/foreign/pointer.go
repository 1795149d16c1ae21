package foreign

import (
	"strings"

	"github.com/candor-mcp/candor/wire"
)

// Paths of arguments are written as arrays, dotted names, bracketed names, JSON Pointers and pointers into a schema. All are
// converted to the JSON Pointer of the argument.

// pointer joins the steps of a path.
func pointer(steps []string) string {
	var b strings.Builder
	for _, step := range steps {
		b.WriteByte('/')
		b.WriteString(escapeStep.Replace(step))
	}
	return b.String()
}

var (
	escapeStep   = strings.NewReplacer("~", "~0", "/", "~1")
	unescapeStep = strings.NewReplacer("~1", "/", "~0", "~")
)

// dotted returns a pointer with dots, for people.
func dotted(path string) string {
	return strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/", ".")
}

// stepsOf splits a path in any spelling. It returns nil if the path is too long.
func stepsOf(path string) []string {
	path = strings.Trim(strings.TrimSpace(path), "\"'`")
	if len(path) > maxPath {
		return nil
	}
	if rest, ok := strings.CutPrefix(path, "#"); ok {
		path = rest
	}
	if strings.HasPrefix(path, "/") {
		return pointerSteps(path)
	}
	if strings.Contains(path, " -> ") {
		return compact(strings.Split(path, " -> "))
	}
	if strings.HasPrefix(path, "$.") || strings.HasPrefix(path, "$[") {
		path = path[1:]
	}
	return dottedSteps(path)
}

const maxPath = 256

func pointerSteps(path string) []string {
	steps := strings.Split(path[1:], "/")
	for i, step := range steps {
		steps[i] = unescapeStep.Replace(step)
	}
	return compact(steps)
}

// dottedSteps splits a.b[0]["c"].
func dottedSteps(path string) []string {
	return compact(strings.FieldsFunc(path, func(c rune) bool {
		return c == '.' || c == '[' || c == ']' || c == '"' || c == '\''
	}))
}

func compact(steps []string) []string {
	out := steps[:0]
	for _, step := range steps {
		if step = strings.TrimSpace(step); step != "" {
			out = append(out, step)
		}
	}
	return out
}

// schemaSteps turns a pointer into a schema, such as /properties/tags/items, into a path of the argument.
func schemaSteps(path string) []string {
	var out []string
	steps := pointerSteps("/" + strings.TrimLeft(path, "#/"))
	for i := 0; i < len(steps); i++ {
		switch steps[i] {
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			if i++; i < len(steps) {
				out = append(out, steps[i])
			}
		}
	}
	return out
}

// arraySteps reads a path that is written as a JSON array of names and indexes.
func arraySteps(v wire.Value) []string {
	var out []string
	for e := range v.Elements() {
		switch e.Type() {
		case wire.TypeString:
			out = append(out, clip(str(e), maxPath))
		case wire.TypeNumber:
			out = append(out, string(e.Raw()))
		case wire.TypeObject: // valibot and Standard Schema: {key: …}
			key, _ := e.Get("key")
			out = append(out, clip(firstOf(str(key), string(key.Raw())), maxPath))
		case wire.TypeAbsent, wire.TypeNull, wire.TypeBool, wire.TypeArray:
		}
		if len(out) == 16 {
			break
		}
	}
	return out
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// roots are words in front of a path that mean the arguments as a whole.
var roots = set("arguments", "args", "params", "body", "query", "input", "inputs", "data", "instance", "root",
	"request", "value", "parameters", "payload", "json", "object", "call", "kwargs")

// rooted removes the words for "the arguments" from the front of a path, unless such a word is itself an argument.
func (r *reader) rooted(steps []string) []string {
	if len(steps) >= 2 && steps[0] == "params" && steps[1] == "arguments" {
		return steps[2:]
	}
	if len(steps) >= 3 && steps[0] == "request" && steps[1] == "params" && steps[2] == "arguments" {
		return steps[3:]
	}
	if len(steps) >= 1 && steps[0] == "params" && !r.args.has("params") && r.said.Numbered {
		r.said.OfRequest = true
		return steps
	}
	for len(steps) > 1 && !r.args.has(steps[0]) && !isIndex(steps[1]) && (roots[steps[0]] || isModel(steps[0]) || r.args.known && r.args.has(steps[1])) {
		steps = steps[1:]
	}
	return steps
}

// isModel reports whether a step is the name of the type that holds the arguments: CreateArgs, SearchRequest.
func isModel(step string) bool {
	for _, tail := range []string{"Args", "Arguments", "Params", "Parameters", "Request", "Input", "Dto", "DTO"} {
		if strings.HasSuffix(step, tail) && isUpper(step[0]) {
			return true
		}
	}
	return false
}

func isIndex(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}
