package foreign

import "strings"

// Validators report in text of a fixed form. Each reader here reads one form and returns whether the text had it.

// reports lists the readers, the more specific first.
var reports = []struct {
	read     func(r *reader, s string) bool
	unspoken bool // the text is for machines, or quotes the values that were sent
}{
	{read: (*reader).pydantic, unspoken: true}, {read: (*reader).marked}, {read: (*reader).goSchema}, {read: (*reader).goJSON},
	{read: (*reader).goStructs, unspoken: true}, {read: (*reader).ajv}, {read: (*reader).jsonSchema}, {read: (*reader).serde},
	{read: (*reader).zodLines}, {read: (*reader).bracketed}, {read: (*reader).trailing}, {read: (*reader).pathList}, {read: (*reader).nameLines},
	{read: (*reader).rails},
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
	} else if i := strings.LastIndex(reason, " (type="); i >= 0 {
		message, bracket = reason[:i], reason[i+len(" (type="):]
	}
	kind, rest, _ := strings.Cut(bracket, ",")
	steps := r.rooted(pydanticSteps(place))
	if len(steps) == 0 {
		return
	}
	is := judged(message)
	is.Path, is.Rule = pointer(steps), firstOf(pydanticRules[strings.Trim(kind, "])")], is.Rule)
	if _, got, ok := strings.Cut(rest, "input_type="); ok && is.Rule != "required" {
		is.Got = typeName(strings.Trim(got, "] \n"))
	}
	r.issue(is)
}

// pydanticSteps drops the names of union branches and functions, which are not part of the argument's path.
func pydanticSteps(place string) []string {
	var out []string
	for _, step := range stepsOf(strings.TrimSpace(place)) {
		if len(out) > 0 && (strings.ContainsAny(step, "(){}") || typeNames[step] != "" && step != "text" && step != "map" && step != "list") {
			continue
		}
		out = append(out, step)
	}
	return out
}

var pydanticRules = map[string]string{
	"missing": "required", "missing_argument": "required", "missing_keyword_only_argument": "required", "missing_positional_only_argument": "required",
	"value_error.missing": "required", "extra_forbidden": "additionalProperties", "value_error.extra": "additionalProperties",
	"unexpected_keyword_argument": "additionalProperties", "enum": "enum", "literal_error": "enum", "string_type": "type",
	"int_type": "type", "float_type": "type", "bool_type": "type", "list_type": "type", "dict_type": "type", "int_parsing": "type",
	"float_parsing": "type", "bool_parsing": "type", "type_error.integer": "type", "type_error.str": "type", "model_type": "type",
	"greater_than": "minimum", "greater_than_equal": "minimum", "less_than": "maximum", "less_than_equal": "maximum",
	"string_too_short": "minLength", "string_too_long": "maxLength", "too_short": "minItems", "too_long": "maxItems",
	"string_pattern_mismatch": "pattern", "url_parsing": "format", "datetime_parsing": "format", "uuid_parsing": "format",
}

// zodHeads begin a sentence of zod, valibot and similar validators.
var zodHeads = []string{"Required", "Expected ", "Invalid ", "Too big", "Too small", "Too ", "String must", "Number must", "Array must", "Unrecognized key",
	"Must ", "Value ", "Input ", "Missing", "must ", "expected ", "should ", "Should ", "Field required", "is required", "is not", "cannot ",
	"Cannot ", "This field", "is missing", "does not", "not a", "Not a", "can't", "has "}

func startsZod(s string) bool {
	for _, h := range zodHeads {
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
	if rest, arrow := strings.CutPrefix(part, "→ at "); arrow {
		return "", rest, isQuotedPath(rest)
	}
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
			is.Path, is.Rule = pointer(steps), "additionalProperties"
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
