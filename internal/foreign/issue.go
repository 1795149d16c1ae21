package foreign

import (
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/pointer"
	"github.com/candor-mcp/candor/wire"
)

// issue adds one failing field, or completes an existing issue with the same path.
func (r *reader) issue(is candor.Issue) {
	if r.said.OfOutput || r.answer {
		r.said.OfAnswer = r.said.OfAnswer || r.answer
		return
	}
	is.Message = clip(strings.TrimSpace(is.Message), maxIssueText)
	for i := range r.said.Issues {
		if have := &r.said.Issues[i]; have.Path == is.Path {
			if r.either {
				widen(have, is)
			}
			complete(have, is)
			return
		}
	}
	if len(r.said.Issues) < MaxIssues {
		r.said.Issues = append(r.said.Issues, is)
	}
}

func complete(have *candor.Issue, is candor.Issue) {
	keep(&have.Rule, is.Rule)
	keep(&have.Message, is.Message)
	keep(&have.Got, is.Got)
	if have.Expected == nil {
		have.Expected = is.Expected
	}
}

// widen adds the type that another branch of a union wants.
func widen(have *candor.Issue, is candor.Issue) {
	one, wanted := have.Expected.(map[string]any)
	other, wants := is.Expected.(map[string]any)
	if !wanted || !wants || one["type"] == nil || other["type"] == nil || have.Rule != is.Rule {
		return
	}
	types, _ := one["type"].([]any)
	if types == nil {
		types = []any{one["type"]}
	}
	if slices.Contains(types, other["type"]) {
		return
	}
	have.Expected = map[string]any{"type": append(types, other["type"])}
	if !strings.Contains(have.Message, is.Message) {
		have.Message = clip(have.Message+"; or "+is.Message, maxIssueText)
	}
}

// named adds an issue for a name or path found in prose. The rule may be refined by the sentence.
func (r *reader) named(path, rule, message string) {
	steps := r.rooted(stepsOf(path))
	if len(steps) == 0 || strings.HasPrefix(steps[0], "$") && !r.args.has(steps[0]) {
		return
	}
	is := judged(message)
	is.Path = pointer.Of(steps...)
	if is.Rule == "" || rule == "additionalProperties" || rule == "anyOf" || rule == "required" && is.Rule == "type" {
		is.Rule = rule
	}
	r.issue(is)
}

// judged returns the issue that a sentence describes: the rule, the received type and the expected type.
func judged(message string) candor.Issue {
	low := strings.ToLower(message)
	is := candor.Issue{Message: message}
	for _, sign := range tables().Signs {
		if strings.Contains(low, sign.Text) {
			is.Rule = sign.Value
			break
		}
	}
	is.Got = typeAfter(low, "received ", "input_type=", "was ", "but got ", "given: ", "got ")
	if want := typeAfter(low, "expected ", "must be a ", "must be an ", "must be ", "should be a valid ", "should be ", "of type ", "want "); want != "" && want != "absent" {
		is.Expected = map[string]any{"type": want}
	}
	return is
}

// typeAfter returns the JSON type named after one of the words, or "".
func typeAfter(low string, words ...string) string {
	for _, w := range words {
		_, rest, ok := strings.Cut(low, w)
		if !ok {
			continue
		}
		rest = strings.TrimLeft(rest, "\"'`")
		end := 0
		for end < len(rest) && (isLower(rest[end]) || rest[end] == '_') {
			end++
		}
		if t := typeName(rest[:end]); t != "" {
			return t
		}
	}
	return ""
}

// typeName translates the type names of other languages to those of JSON Schema. It returns "" for any other word.
func typeName(word string) string { return tables().Types[strings.Trim(strings.ToLower(word), "\"'")] }

// Paths of arguments are written as arrays, dotted names, bracketed names, JSON Pointers and pointers into a schema. All are
// converted to the JSON Pointer of the argument.

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
	if strings.HasPrefix(path, "/") {
		return pointerSteps(path)
	}
	return dottedSteps(path)
}

const maxPath = 256

func pointerSteps(path string) []string {
	steps := strings.Split(path[1:], "/")
	for i, step := range steps {
		steps[i] = pointer.Unescape(step)
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
		case wire.TypeObject, wire.TypeAbsent, wire.TypeNull, wire.TypeBool, wire.TypeArray:
		}
		if len(out) == 16 {
			break
		}
	}
	return out
}

// rooted removes the words for "the arguments" from the front of a path, unless such a word is itself an argument.
func (r *reader) rooted(steps []string) []string {
	if len(steps) >= 2 && steps[0] == "params" && steps[1] == "arguments" {
		return steps[2:]
	}
	if len(steps) >= 1 && steps[0] == "params" && !r.args.has("params") && r.said.Numbered {
		r.said.OfRequest = true
		return steps
	}
	for len(steps) > 1 && !r.args.has(steps[0]) && !isIndex(steps[1]) && (tables().Roots[steps[0]] || r.args.known && r.args.has(steps[1])) {
		steps = steps[1:]
	}
	return steps
}

func isIndex(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
