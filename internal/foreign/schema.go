package foreign

import (
	"strings"

	"github.com/candor-mcp/candor"
)

// The functions below read the texts of JSON Schema validators.

// goSchema reads google/jsonschema-go as the Go SDK passes it on:
// validating "arguments": validating root: validating /properties/n: type: x has type "string", want "integer".
func (r *reader) goSchema(s string) bool {
	i := strings.Index(s, "validating ")
	if i < 0 || !strings.Contains(s, "validating root") && !strings.Contains(s, "validating /") && !strings.Contains(s, "validating \"") {
		return false
	}
	var place []string
	for _, part := range strings.Split(s[i:], "validating ")[1:] {
		if strings.HasPrefix(part, "/") {
			at, _, _ := strings.Cut(part, ":")
			place = schemaSteps(at)
		}
	}
	message := s[strings.LastIndex(s, "validating "):]
	_, message, _ = strings.Cut(message, ": ")
	for _, sign := range goSigns {
		if _, list, ok := strings.Cut(message, sign.words); ok {
			r.namesIn(list, place, sign.rule, message)
			return true
		}
	}
	if len(place) > 0 {
		keyword, rest, _ := strings.Cut(message, ": ")
		r.schemaIssue(place, keyword, rest)
	}
	return true
}

var goSigns = []sign{{"missing properties: ", "required"}, {"unexpected additional properties ", "additionalProperties"}}

// namesIn adds an issue for each quoted or bracketed name of a list.
func (r *reader) namesIn(list string, under []string, rule, message string) {
	if list = strings.TrimSpace(list); strings.HasPrefix(list, "[") {
		list, _, _ = strings.Cut(list[1:], "]")
	}
	for _, t := range tokens(list) {
		if (t.kind == kindQuoted || t.kind == kindWord && !never[t.low]) && isPath(t.text) {
			steps := append(append([]string(nil), under...), t.text)
			r.issue(candor.Issue{Path: pointer(r.rooted(steps)), Rule: rule, Message: message})
		}
	}
}

func (r *reader) schemaIssue(steps []string, keyword, message string) {
	is := judged(message)
	if _, got, ok := strings.Cut(message, "has type \""); ok {
		got, _, _ = strings.Cut(got, "\"")
		is.Got = typeName(got)
	}
	if isPath(keyword) {
		is.Rule = keyword
	}
	is.Path = pointer(r.rooted(steps))
	r.issue(is)
}

// goJSON reads errors of encoding/json: … into Go struct field Params.body of type string.
func (r *reader) goJSON(s string) bool {
	found := false
	if _, rest, ok := strings.Cut(s, "Go struct field "); ok {
		field, want, _ := strings.Cut(rest, " of type ")
		model, path, dotted := strings.Cut(field, ".")
		if found = dotted && isPath(path); found && r.decodes(model, path) {
			is := candor.Issue{Path: pointer(r.rooted(stepsOf(path))), Rule: "type", Got: typeAfter(s, "cannot unmarshal "), Message: s}
			if t := goType(want); t != "" {
				is.Expected = map[string]any{"type": t}
			}
			r.issue(is)
		}
	}
	if _, rest, ok := strings.Cut(s, "json: unknown field \""); ok {
		name, _, _ := strings.Cut(rest, "\"")
		r.named(name, "additionalProperties", s)
		found = true
	}
	return found
}

// decodes reports whether a Go struct is that of the arguments and not of a response.
func (r *reader) decodes(model, path string) bool {
	for _, tail := range []string{"Params", "Input", "Args", "Arguments", "Request", "Options", "Parameters"} {
		if strings.HasSuffix(model, tail) {
			return true
		}
	}
	return r.args.empty() && r.args.known || r.args.has(stepsOf(path)[0]) || !r.args.known && r.validation
}

func goType(want string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(want), " ")
	word = strings.TrimRight(strings.TrimLeft(word, "*"), "\".,;")
	switch {
	case strings.HasPrefix(word, "[]"):
		return "array"
	case strings.HasPrefix(word, "map["):
		return "object"
	}
	return typeName(word)
}

// goStructs reads mcp-go's validation, which prints Go structs: <root>: &{Missing:[path]}; /mode: &{Got:x Want:[r w]}.
func (r *reader) goStructs(s string) bool {
	if !strings.Contains(s, "&{") || !r.validation {
		return false
	}
	for part := range strings.SplitSeq(s, "; ") {
		place, body, ok := strings.Cut(part, ": &{")
		if !ok {
			continue
		}
		_, place, _ = cutLast(" "+place, " ")
		steps := stepsOf(strings.Trim(place, "<>"))
		if place == "<root>" {
			steps = nil
		}
		r.goStruct(steps, strings.TrimSuffix(body, "}"))
	}
	return true
}

func (r *reader) goStruct(place []string, body string) {
	if _, list, ok := strings.Cut(body, "Missing:["); ok {
		list, _, _ = strings.Cut(list, "]")
		for name := range strings.FieldsSeq(list) {
			r.issue(candor.Issue{Path: pointer(append(append([]string(nil), place...), name)), Rule: "required", Message: "missing"})
		}
		return
	}
	if _, list, ok := strings.Cut(body, "Properties:["); ok {
		list, _, _ = strings.Cut(list, "]")
		r.namesIn(list, place, "additionalProperties", "not allowed")
		return
	}
	rule := ""
	if strings.HasPrefix(body, "Got:") {
		rule = "type"
	}
	if len(place) > 0 {
		r.issue(candor.Issue{Path: pointer(place), Rule: rule, Message: "not valid"})
	}
}

// ajv reads "data/x must be string", "/x must be string", "data must have required property 'x'" and the older "data.x should be
// string", also from validators that use the same form.
func (r *reader) ajv(s string) bool {
	found := false
	for _, verb := range []string{" must ", " should ", " requires ", " is not "} {
		for rest, base := s, 0; ; {
			i := strings.Index(rest, verb)
			if i < 0 {
				break
			}
			at := base + i
			found = r.ajvAt(s, at, verb) || found
			base = at + len(verb)
			rest = s[base:]
		}
	}
	return found
}

func (r *reader) ajvAt(s string, at int, verb string) bool {
	begin := strings.LastIndexAny(s[:at], " \n,;(") + 1
	place := strings.Trim(s[begin:at], "\"'`")
	steps, ok := ajvPlace(place)
	if !ok || strings.HasPrefix(s[at+len(verb):], "a function") {
		return false
	}
	predicate := ajvPredicate(s[at+len(verb):])
	if kind, list, ok := ajvNames(predicate); ok {
		r.namesIn(list, r.rooted(steps), kind, place+verb+predicate)
		return true
	}
	if len(steps) > 0 {
		is := judged(place + verb + predicate)
		is.Path = pointer(r.rooted(steps))
		r.issue(is)
	}
	return true
}

// ajvPlace splits data/x, /x, data.x, instance.x; ok is false for prose.
func ajvPlace(place string) (steps []string, ok bool) {
	for _, root := range []string{"data", "instance", "body", "params", "querystring", "input", "arguments", "args", "request/body", "request/query", "request/params", "request.body", "request.query", "req.body"} {
		if place == root {
			return nil, true
		}
		if rest, has := strings.CutPrefix(place, root); has && rest != "" && (rest[0] == '/' || rest[0] == '.' || rest[0] == '[') {
			return stepsOf(rest), isPath(strings.Trim(strings.TrimLeft(rest, "./["), "]"))
		}
	}
	return stepsOf(place), len(place) > 1 && place[0] == '/' && isPath(place)
}

// ajvPredicate returns the text up to the next issue.
func ajvPredicate(s string) string {
	for _, sep := range []string{", data", "; ", ", /", ", instance", ", request", "\n"} {
		s, _, _ = strings.Cut(s, sep)
	}
	return s
}

func ajvNames(predicate string) (rule, list string, ok bool) {
	for _, sign := range []sign{
		{"have required property ", "required"}, {"have required properties ", "required"}, {"property ", "required"},
		{"NOT have additional properties", "additionalProperties"},
	} {
		if list, has := strings.CutPrefix(predicate, sign.words); has {
			list, _, _ = strings.Cut(strings.Trim(list, ":. "), ",")
			return sign.rule, list, true
		}
	}
	return "", "", false
}

// jsonSchema reads Python's jsonschema, santhosh-tekuri, gojsonschema and networknt.
func (r *reader) jsonSchema(s string) bool {
	found := false
	if _, rest, ok := strings.Cut(s, "On instance["); ok {
		place, _, _ := strings.Cut(rest, ":")
		first, _, _ := strings.Cut(s, "\n")
		r.schemaIssue(dottedSteps(strings.TrimRight(place, "]")), pythonKeyword(s), first)
		found = true
	}
	for line := range strings.Lines(s) {
		line = strings.Trim(strings.TrimSpace(line), "- ")
		found = r.placed(line) || found
	}
	return found
}

func pythonKeyword(s string) string {
	_, rest, _ := strings.Cut(s, "Failed validating '")
	keyword, _, _ := strings.Cut(rest, "'")
	return keyword
}

// placed reads lines that begin with the path: at '/mode': …, (root): name is required, $.x: ….
func (r *reader) placed(line string) bool {
	place, message, ok := strings.Cut(line, ": ")
	if !ok {
		return false
	}
	place = strings.TrimPrefix(place, "at ")
	var steps []string
	switch {
	case place == "''", place == "(root)", place == "$":
	case strings.HasPrefix(place, "'/"), strings.HasPrefix(place, "$."), strings.HasPrefix(place, "#/"):
		steps = stepsOf(strings.Trim(place, "'\""))
	default:
		return false
	}
	for _, sign := range []sign{
		{"missing propert", "required"}, {"additional propert", "additionalProperties"}, {"Additional property ", "additionalProperties"},
		{"required property ", "required"},
	} {
		if _, list, ok := strings.Cut(message, sign.words); ok {
			list = strings.TrimPrefix(strings.TrimPrefix(list, "ies"), "y")
			list, _, _ = strings.Cut(list, " is ")
			r.namesIn(strings.TrimSuffix(list, " not allowed"), steps, sign.rule, message)
			return true
		}
	}
	if name, ok := strings.CutSuffix(message, " is required"); ok && isPath(name) {
		steps = append(steps, name)
	}
	if len(steps) > 0 {
		r.schemaIssue(steps, "", message)
	}
	return true
}

// serde reads Rust's serde: missing field `name`, unknown field `x`, expected ….
func (r *reader) serde(s string) bool {
	found := false
	for _, sign := range serdeSigns {
		if _, rest, ok := strings.Cut(s, sign.words); ok {
			name, _, _ := strings.Cut(rest, "`")
			if isPath(name) {
				r.named(name, sign.rule, lineAt(s, strings.Index(s, sign.words)))
				found = true
			}
		}
	}
	return found
}

var serdeSigns = []sign{{"missing field `", "required"}, {"unknown field `", "additionalProperties"}, {"duplicate field `", "type"}}
