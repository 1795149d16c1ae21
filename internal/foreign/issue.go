package foreign

import (
	"strings"

	"github.com/candor-mcp/candor"
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

// named adds an issue for a name or path found in prose. The rule may be refined by the sentence.
func (r *reader) named(path, rule, message string) {
	steps := r.rooted(stepsOf(path))
	if len(steps) == 0 || strings.HasPrefix(steps[0], "$") && !r.args.has(steps[0]) {
		return
	}
	is := judged(message)
	is.Path = pointer(steps)
	if is.Rule == "" || rule == "additionalProperties" || rule == "anyOf" || rule == "required" && is.Rule == "type" {
		is.Rule = rule
	}
	r.issue(is)
}

// signs map words of a validator's sentence to rules. The first that is found wins.
var signs = []sign{
	{"unrecognized key", "additionalProperties"}, {"additional propert", "additionalProperties"},
	{"unexpected keyword", "additionalProperties"}, {"extra inputs", "additionalProperties"}, {"unknown field", "additionalProperties"},
	{"received undefined", "required"}, {"received nonoptional", "required"}, {"nonoptional", "required"}, {"field required", "required"},
	{"is required", "required"}, {"are required", "required"}, {"required property", "required"}, {"missing", "required"},
	{"not be null", "required"}, {"be blank", "required"}, {"be empty", "required"}, {"did not match the following type", "type"}, {"typemismatch", "type"}, {"invalid type", "type"}, {"be converted to", "type"},
	{"cannot deserialize", "type"}, {"could not convert", "type"}, {"'max' tag", "maximum"}, {"'min' tag", "minimum"}, {"'oneof' tag", "enum"}, {"'email' tag", "format"},
	{"greater than the max", "maximum"}, {"less than the min", "minimum"}, {"not be less than", "minimum"}, {"no less than", "minimum"}, {"not be greater than", "maximum"}, {"no greater than", "maximum"}, {"must be >", "minimum"}, {"must be <", "maximum"},
	{"invalid option", "enum"}, {"invalid enum", "enum"}, {"one of", "enum"}, {"allowed values", "enum"}, {"invalid literal", "const"},
	{"greater than", "minimum"}, {"at least", "minimum"}, {"too small", "minimum"}, {"less than", "maximum"}, {"at most", "maximum"},
	{"too big", "maximum"}, {"too long", "maxLength"}, {"too short", "minLength"}, {"exceeds", "maximum"}, {"maximum", "maximum"},
	{"iso 8601", "format"}, {"invalid email", "format"}, {"invalid url", "format"}, {"invalid uuid", "format"}, {"invalid datetime", "format"},
	{"pattern", "pattern"}, {"match", "pattern"}, {"must be a valid", "format"},
	{"obligatori", "required"}, {"obrigat", "required"}, {"requis", "required"}, {"requerid", "required"}, {"erforderlich", "required"}, {"fehlt", "required"}, {"falta", "required"}, {"manqu", "required"}, {"обязател", "required"},
	{"отсутств", "required"}, {"必須", "required"}, {"必填", "required"}, {"必需", "required"}, {"缺少", "required"}, {"필수", "required"}, {"누락", "required"},
	{"expected ", "type"}, {"must be ", "type"}, {"should be ", "type"}, {"of type", "type"}, {"required", "required"},
}

// sign is a piece of text and the rule that it indicates.
type sign struct{ words, rule string }

// judged returns the issue that a sentence describes: the rule, the received type and the expected type.
func judged(message string) candor.Issue {
	low := strings.ToLower(message)
	is := candor.Issue{Message: message}
	for _, sign := range signs {
		if strings.Contains(low, sign.words) {
			is.Rule = sign.rule
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
func typeName(word string) string { return typeNames[strings.Trim(strings.ToLower(word), "\"'")] }

var typeNames = map[string]string{
	"string": "string", "str": "string", "text": "string", "number": "number", "float": "number", "float64": "number", "double": "number",
	"nan": "number", "integer": "integer", "int": "integer", "int64": "integer", "int32": "integer", "long": "integer",
	"boolean": "boolean", "bool": "boolean", "array": "array", "list": "array", "slice": "array", "tuple": "array",
	"object": "object", "dict": "object", "dictionary": "object", "map": "object", "record": "object", "struct": "object",
	"null": "null", "none": "null", "nonetype": "null", "nil": "null", "undefined": "absent",
}
