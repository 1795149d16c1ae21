package foreign

import (
	"cmp"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/pointer"
)

// Validators report in text of a fixed form. Each reader here reads one form and returns whether the text had it.

// reports lists the readers, the more specific first.
var reports = []struct {
	read     func(r *reader, s string) bool
	unspoken bool // the text is for machines, or quotes the values that were sent
}{
	{read: (*reader).pydantic, unspoken: true}, {read: (*reader).goSchema}, {read: (*reader).goJSON}, {read: (*reader).zodLines},
	{read: (*reader).pathList}, {read: (*reader).nameLines},
}

// report tries the validators. It reports whether one matched, so that the text is not read as prose again, and whether the text is
// not for people.
func (r *reader) report(s string) (unspoken, ok bool) {
	for _, rep := range reports {
		if rep.read(r, s) {
			return rep.unspoken, true
		}
	}
	return false, false
}

// pydantic reads "2 validation errors for X", followed by pairs of a line with the path and an indented line with the reason.
func (r *reader) pydantic(s string) bool {
	i := strings.Index(s, " validation error")
	if i < 0 || i > 0 && !isDigit(s[i-1]) {
		return false
	}
	lines := strings.Split(s[i:], "\n")
	model := strings.TrimSpace(lines[0])
	r.said.OfOutput = r.said.OfOutput || strings.HasSuffix(model, "Output") || strings.HasSuffix(model, "Result")
	r.answer = r.answer || strings.HasSuffix(model, "Response")
	found := false
	for n := 1; n+1 < len(lines); n++ {
		place, reason := lines[n], lines[n+1]
		if place == "" || place[0] == ' ' || !strings.HasPrefix(reason, "  ") {
			continue
		}
		found = true
		r.pydanticIssue(place, strings.TrimSpace(reason))
	}
	return found
}

func (r *reader) pydanticIssue(place, reason string) {
	message, bracket := reason, ""
	if i := strings.LastIndex(reason, " [type="); i >= 0 {
		message, bracket = reason[:i], reason[i+len(" [type="):]
	}
	kind, rest, _ := strings.Cut(bracket, ",")
	steps := r.rooted(pydanticSteps(place))
	if len(steps) == 0 {
		return
	}
	is := judged(message)
	is.Path, is.Rule = pointer.Of(steps...), cmp.Or(tables().Rules[strings.Trim(kind, "])")], is.Rule)
	if _, got, ok := strings.Cut(rest, "input_type="); ok && is.Rule != "required" {
		is.Got = typeName(strings.Trim(got, "] \n"))
	}
	r.issue(is)
}

// pydanticSteps drops the names of union branches and functions, which are not part of the argument's path.
func pydanticSteps(place string) []string {
	var out []string
	for _, step := range stepsOf(strings.TrimSpace(place)) {
		if len(out) > 0 && (strings.ContainsAny(step, "(){}") || tables().Types[step] != "" && step != "text" && step != "map" && step != "list") {
			continue
		}
		out = append(out, step)
	}
	return out
}

func startsZod(s string) bool {
	for _, h := range tables().ZodHeads {
		if strings.HasPrefix(s, h) {
			return true
		}
	}
	return false
}

// zodLines reads "Required at name" and "✖ Invalid input\n  → at name", with one issue per line or semicolon.
func (r *reader) zodLines(s string) bool {
	found := false
	previous := ""
	for line := range strings.Lines(s) {
		for _, part := range zodParts(line) {
			message, path, ok := cutAt(part)
			if message == "" || message == "→" {
				message = previous
			}
			if previous = part; !ok || !r.validation && !startsZod(message) {
				continue
			}
			found = true
			r.zodLine(message, path)
		}
	}
	return found
}

// zodParts splits a line at the semicolons of zod-validation-error.
func zodParts(line string) []string {
	parts := strings.Split(line, "; ")
	for i, p := range parts {
		parts[i] = strings.Trim(strings.TrimSpace(p), "✖•-*·❌ ")
	}
	return parts
}

// cutAt splits "message at path". The path is the last word of the line.
func cutAt(part string) (message, path string, ok bool) {
	i := strings.LastIndex(part, " at ")
	if i < 0 {
		return part, "", false
	}
	path = strings.TrimRight(part[i+len(" at "):], ".")
	return part[:i], path, isQuotedPath(path) && !isIndex(path)
}

func isQuotedPath(s string) bool { return isPath(strings.Trim(s, "\"'`")) || strings.HasPrefix(s, "[") }

func (r *reader) zodLine(message, path string) {
	path = strings.Trim(path, "\"'`")
	if name, rest, ok := strings.Cut(message, ": "); ok && name == path {
		message = rest
	}
	if strings.HasPrefix(message, "Unrecognized key") {
		r.unknownKeys(message, path)
		return
	}
	r.named(path, "", message)
}

// unknownKeys reads the quoted names after "Unrecognized key(s) in object:".
func (r *reader) unknownKeys(message, under string) {
	prefix := stepsOf(under)
	for _, t := range tokens(message) {
		if t.kind == kindQuoted {
			steps := append(append([]string(nil), r.rooted(prefix)...), t.text)
			is := judged(message)
			is.Path, is.Rule = pointer.Of(steps...), "additionalProperties"
			r.issue(is)
		}
	}
}

// pathList reads "name: Required, files.0.path: Expected string", the joined issues of many servers.
func (r *reader) pathList(s string) bool {
	if !r.validation {
		return false
	}
	found := false
	starts := r.pathStarts(s)
	for i, at := range starts {
		end := len(s)
		if i+1 < len(starts) {
			end = starts[i+1].path
		}
		path, message := strings.TrimSpace(s[at.path:at.colon]), strings.TrimRight(s[at.colon+1:end], ",; \n-•")
		message = strings.TrimSpace(message)
		found = true
		if strings.HasPrefix(message, "Unrecognized key") {
			r.unknownKeys(message, "")
			continue
		}
		r.named(path, "", firstSentence(message))
	}
	return found
}

type pathStart struct{ path, colon int }

// pathStarts finds the positions at which a path and a colon begin the next issue.
func (r *reader) pathStarts(s string) []pathStart {
	var out []pathStart
	for i := 0; i < len(s) && len(out) < MaxIssues; i++ {
		if i > 0 && !opensPath(s, i) {
			continue
		}
		begin := i + len(s[i:]) - len(strings.TrimLeft(s[i:], "-•*· \"'`"))
		n := strings.IndexByte(clip(s[begin:], 72), ':')
		if dash := strings.Index(clip(s[begin:], 72), " - "); dash > 0 && (n < 0 || dash < n) {
			n = dash + 1
		}
		if n <= 0 {
			continue
		}
		path := strings.TrimRight(s[begin:begin+n], "\"'` ")
		rest := strings.TrimLeft(s[begin+n+1:], " ")
		if isPath(path) && (startsZod(rest) || r.args.has(path) || looksDeclared(path) && len(out) > 0) && !neverPath(path) {
			out = append(out, pathStart{begin, begin + n})
		}
	}
	return out
}

// opensPath reports whether position i follows a separator of issues.
func opensPath(s string, i int) bool {
	switch s[i-1] {
	case '\n':
		return true
	case ' ':
		return i >= 2 && (s[i-2] == ',' || s[i-2] == ';' || s[i-2] == ':' || s[i-2] == '.')
	}
	return false
}

func neverPath(path string) bool {
	low := strings.ToLower(path)
	return low == "error" || low == "input" || low == "expected" || low == "required" || low == "received" || low == "validation" || low == "json"
}

func firstSentence(s string) string {
	if i := strings.Index(s, ". "); i > 0 {
		return s[:i]
	}
	return s
}

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
		if _, list, ok := strings.Cut(message, sign.Text); ok {
			r.namesIn(list, place, sign.Value, message)
			return true
		}
	}
	if len(place) > 0 {
		keyword, rest, _ := strings.Cut(message, ": ")
		r.schemaIssue(place, keyword, rest)
	}
	return true
}

var goSigns = []pair{{"missing properties: ", "required"}, {"unexpected additional properties ", "additionalProperties"}}

// namesIn adds an issue for each quoted or bracketed name of a list.
func (r *reader) namesIn(list string, under []string, rule, message string) {
	if list = strings.TrimSpace(list); strings.HasPrefix(list, "[") {
		list, _, _ = strings.Cut(list[1:], "]")
	}
	for _, t := range tokens(list) {
		if (t.kind == kindQuoted || t.kind == kindWord && !tables().Never[t.low]) && isPath(t.text) {
			steps := append(append([]string(nil), under...), t.text)
			r.issue(candor.Issue{Path: pointer.Of(r.rooted(steps)...), Rule: rule, Message: message})
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
	is.Path = pointer.Of(r.rooted(steps)...)
	r.issue(is)
}

// goJSON reads errors of encoding/json: … into Go struct field Params.body of type string.
func (r *reader) goJSON(s string) bool {
	found := false
	if _, rest, ok := strings.Cut(s, "Go struct field "); ok {
		field, want, _ := strings.Cut(rest, " of type ")
		model, path, dotted := strings.Cut(field, ".")
		if found = dotted && isPath(path); found && r.decodes(model, path) {
			is := candor.Issue{Path: pointer.Of(r.rooted(stepsOf(path))...), Rule: "type", Got: typeAfter(s, "cannot unmarshal "), Message: s}
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
