package foreign

import (
	"slices"
	"strings"
	"unicode"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

// lists are the members that hold issues.
var lists = set("issues", "errors", "validationerrors", "validationissues", "fielderrors", "violations", "fieldviolations", "invalidparams", "validation", "details", "detail", "error", "unionerrors",
	"problems", "suberrors", "messages", "constraintviolations", "invalidfields", "fields", "schemaerrors", "inputerrors", "message", "data", "modelstate", "formerrors", "params")

// missings are the members that list names of missing arguments.
var missings = set("missing", "missingfields", "missingparameters", "missingparams", "missingarguments", "requiredfields", "missingrequired", "requiredparams", "missingproperties", "missingkeys")

// singles are the members that name one failing argument.
var singles = set("field", "param", "parameter", "argument", "fieldname", "paramname", "parametername", "missingfield", "missingparameter", "argumentname", "invalidfield", "invalidparameter")

// issueMember reads a member that names failing fields. whole is the object that contains it.
func (r *reader) issueMember(key string, v, whole wire.Value) {
	switch {
	case missings[key]:
		r.nameList(v)
	case singles[key] && v.Type() == wire.TypeString && isPath(str(v)):
		r.named(str(v), "", firstOf(str(whole.Path("message")), str(whole.Path("error")), str(whole.Path("reason")), str(whole.Path("detail"))))
	case lists[key] && v.Type() == wire.TypeArray:
		r.issueList(v, nil)
	case (key == "errors" || key == "fielderrors" || key == "validationerrors" || key == "messages" || key == "modelstate" || key == "details" || key == "properties" || key == "invalidfields") && v.Type() == wire.TypeObject:
		r.issueMap(v, nil, 3)
	}
}

func (r *reader) nameList(v wire.Value) {
	if s := str(v); s != "" && isPath(s) {
		r.named(s, "required", "")
	}
	for e := range v.Elements() {
		if s := str(e); isPath(s) {
			r.named(s, "required", "")
		}
	}
}

// issueMap reads names mapped to sentences, as Django, Laravel and flattened zod write them, also in zod's tree.
func (r *reader) issueMap(v wire.Value, under []string, levels int) {
	if levels == 0 || v.Len() > maxElements {
		return
	}
	for name, m := range v.Members() {
		key := str(name)
		if !isPath(key) || reserved[fold(key)] || missings[fold(key)] {
			continue
		}
		steps := append(append([]string(nil), under...), key)
		text := sentencesIn(m)
		if s := str(m); isComplaint(s) {
			text = s
		}
		if text != "" {
			is := judged(text)
			is.Path = pointer(r.rooted(steps))
			r.issue(is)
		}
		if m.Type() == wire.TypeObject {
			inner, ok := m.Get("properties")
			if !ok {
				inner = m
			}
			r.issueMap(inner, steps, levels-1)
		}
	}
}

// reserved are names in such maps that are not fields.
var reserved = set("errors", "formerrors", "fielderrors", "code", "message", "type", "status", "properties", "items", "nonfielderrors", "detail", "details", "error", "suggestion", "hint", "stack", "name", "cause", "issues", "reason", "timestamp", "validationerrors", "validationissues", "suggestions", "violations", "fieldviolations", "invalidparams", "hints", "help")

// sentencesIn returns the text of a map's entry: an array of sentences, or an object with _errors or errors.
func sentencesIn(v wire.Value) string {
	for _, name := range []string{"_errors", "errors"} {
		if inner, ok := v.Get(name); ok && inner.Len() > 0 {
			v = inner
		}
	}
	if v.Type() != wire.TypeArray {
		return ""
	}
	first, _ := v.Index(0)
	return firstOf(str(first), str(first.Path("message")))
}

// issueList reads an array of issue objects. It returns false if the array has none.
func (r *reader) issueList(v wire.Value, under []string) bool {
	found := false
	n := 0
	for e := range v.Elements() {
		if n++; n > maxElements || r.nodes > maxNodes {
			break
		}
		if isIssue(e) {
			found = true
			r.nodes++
			r.issueObject(e, under)
		}
	}
	return found
}

// places are the members of an issue that hold its path.
var places = []string{"path", "loc", "instancePath", "dataPath", "instanceLocation", "pointer", "field", "param", "property", "propertyPath", "parameter", "argument", "fieldName", "location", "key", "fieldPath", "name"}

// whys are the members of an issue that describe the fault.
var whys = []string{"message", "msg", "description", "reason", "defaultMessage", "detail", "error", "errorMessage", "title", "problem", "issue", "text", "hint"}

// isIssue reports whether an object has a path and a description. GraphQL errors also have a path, but into the response.
func isIssue(e wire.Value) bool {
	if e.Type() != wire.TypeObject || e.Path("locations").Present() || e.Path("extensions").Present() {
		return false
	}
	if e.Path("name").Type() == wire.TypeString && isException(str(e.Path("name"))) {
		return false
	}
	why := e.Path("constraints").Type() == wire.TypeObject || e.Path("children").Len() > 0 && e.Path("property").Present()
	for _, name := range whys {
		why = why || e.Path(name).Type() == wire.TypeString
	}
	if !why && !e.Path("code").Present() && !e.Path("keyword").Present() {
		return false
	}
	_, ok := placeOf(e)
	return ok
}

// placeOf returns the path that an issue object names.
func placeOf(e wire.Value) (steps []string, ok bool) {
	if p := e.Path("source", "pointer"); p.Type() == wire.TypeString {
		return trimAPI(stepsOf(str(p))), true
	}
	if p := e.Path("source", "parameter"); p.Type() == wire.TypeString {
		return stepsOf(str(p)), true
	}
	for _, name := range places {
		p, has := e.Get(name)
		switch {
		case !has:
		case name == "loc":
			return trimLoc(arraySteps(p)), true
		case p.Type() == wire.TypeArray:
			return arraySteps(p), true
		case p.Type() == wire.TypeString && str(p) == "":
			return nil, true
		case p.Type() == wire.TypeString && isPlace(str(p), name):
			return stepsOf(str(p)), true
		}
	}
	return nil, false
}

// isPlace distinguishes the path of an argument from a file's or a URL's, which the same member may hold.
func isPlace(s, member string) bool {
	if strings.HasPrefix(s, "/") && member != "instancePath" && member != "instanceLocation" && member != "pointer" && member != "dataPath" {
		return strings.Count(s, "/") <= 2 && !strings.Contains(s, "\\") && isPath(s)
	}
	return isPath(strings.TrimLeft(s, "/.#$[")) || len(s) <= maxPath && !strings.ContainsAny(s, " \n:")
}

// trimLoc drops FastAPI's first step, the part of the HTTP request.
func trimLoc(steps []string) []string {
	if len(steps) > 1 {
		switch steps[0] {
		case "body", "query", "path", "header", "cookie", "form":
			return steps[1:]
		}
	}
	return steps
}

// trimAPI drops JSON:API's envelope.
func trimAPI(steps []string) []string {
	for len(steps) > 1 && (steps[0] == "data" || steps[0] == "attributes") {
		steps = steps[1:]
	}
	return steps
}

// issueObject adds one issue, or those inside it.
func (r *reader) issueObject(e wire.Value, under []string) {
	if status, ok := e.Get("status"); ok { // JSON:API has it per issue
		r.statusMember(status)
	}
	steps, _ := placeOf(e)
	steps = append(append([]string(nil), under...), steps...)
	if r.union(e, steps, under) || r.constrained(e, steps) {
		return
	}
	if extra := extraKeys(e); len(extra) > 0 {
		for _, key := range extra {
			r.issue(r.issueOf(e, append(append([]string(nil), steps...), key)))
		}
		return
	}
	r.issue(r.issueOf(e, steps))
}

// union reads the branches of a union. zod 3 repeats the whole path in them; zod 4 gives the remaining steps.
func (r *reader) union(e wire.Value, steps, under []string) bool {
	found := false
	for branch := range e.Path("unionErrors").Elements() {
		found = r.issueList(branch.Path("issues"), under) || found
	}
	for branch := range e.Path("errors").Elements() {
		found = r.issueList(branch, steps) || found
	}
	if found && len(steps) > 0 {
		r.issue(r.issueOf(e, steps))
	}
	return found
}

// extraKeys returns the names that the issue is about and its path does not contain.
func extraKeys(e wire.Value) []string {
	keys := arraySteps(e.Path("keys"))
	for _, name := range []string{"missingProperty", "additionalProperty", "propertyName", "unevaluatedProperty"} {
		if s := str(e.Path("params", name)); s != "" {
			keys = append(keys, s)
		}
	}
	return keys
}

func (r *reader) issueOf(e wire.Value, steps []string) candor.Issue {
	rule, message := constraintOf(e)
	for _, name := range whys {
		message = firstOf(message, str(e.Path(name)))
	}
	is := judged(message)
	is.Rule = firstOf(rule, is.Rule)
	is.Path = pointer(r.rooted(steps))
	for _, name := range []string{"code", "keyword", "type", "rule", "constraint", "validator"} {
		if rule := ruleNames[str(e.Path(name))]; rule != "" {
			is.Rule = rule
			break
		}
	}
	if got := typeName(str(e.Path("received"))); got != "" {
		is.Got = got
	}
	if is.Got == "absent" && is.Rule == "type" || is.Rule == "type" && message == "Required" {
		is.Rule = "required"
	}
	if want := expected(e); want != nil {
		is.Expected = want
	}
	return is
}

// expected returns the part of a schema in an issue object.
func expected(e wire.Value) map[string]any {
	for _, name := range []string{"options", "values", "allowedValues"} {
		if list := e.Path(name); list.Type() == wire.TypeArray && list.Len() <= maxElements {
			return map[string]any{"enum": anyStrings(list)}
		}
	}
	if list := e.Path("params", "allowedValues"); list.Type() == wire.TypeArray {
		return map[string]any{"enum": anyStrings(list)}
	}
	for _, name := range []string{"maximum", "minimum"} {
		if n, ok := e.Path(name).Float64(); ok {
			return map[string]any{name: n}
		}
	}
	if t := typeName(str(e.Path("expected"))); t != "" && t != "absent" {
		return map[string]any{"type": t}
	}
	return nil
}

func anyStrings(list wire.Value) []any {
	var out []any
	for e := range list.Elements() {
		if len(out) < maxElements && e.Type() == wire.TypeString {
			out = append(out, clip(str(e), maxIssueText))
		}
	}
	return out
}

// ruleNames translates the words of validators to keywords of JSON Schema.
var ruleNames = merged(pydanticRules, map[string]string{
	"invalid_type": "type", "invalid_enum_value": "enum", "invalid_value": "enum", "invalid_literal": "const", "unrecognized_keys": "additionalProperties", "invalid_union": "anyOf",
	"invalid_union_discriminator": "enum", "too_small": "minimum", "too_big": "maximum", "invalid_string": "format", "invalid_format": "format", "not_multiple_of": "multipleOf", "custom": "custom",
	"invalid_date": "format", "invalid_key": "propertyNames", "invalid_element": "items", "required": "required", "type": "type", "enum": "enum", "const": "const", "pattern": "pattern", "format": "format",
	"minimum": "minimum", "maximum": "maximum", "minLength": "minLength", "maxLength": "maxLength", "minItems": "minItems", "maxItems": "maxItems", "additionalProperties": "additionalProperties",
	"anyOf": "anyOf", "oneOf": "oneOf", "missing_field": "required", "parameter_missing": "required", "REQUIRED": "required", "blank": "required", "any.required": "required", "string.base": "type",
	"number.base": "type", "any.only": "enum", "object.unknown": "additionalProperties", "parameter_unknown": "additionalProperties", "parameter_invalid_integer": "type",
})

func merged(maps ...map[string]string) map[string]string {
	out := make(map[string]string)
	for _, m := range maps {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}

// compound reads two bare words as one if the request has an argument of that name: "time zone" means timezone or sourceTimezone,
// even if the request also has an argument time. If several arguments match, those whose value is in the text are meant; without
// such a value, the words name nothing.
func (r *reader) compound(toks []token, i int) (names []string, found bool) {
	if i+1 >= len(toks) || !isBare(toks[i]) || !isBare(toks[i+1]) || toks[i+1].head {
		return nil, false
	}
	both := fold(toks[i].low + toks[i+1].low)
	if name, ok := r.args.keys[both]; ok {
		return []string{name}, true
	}
	if generic[toks[i+1].low] || kinds[toks[i+1].low] {
		return nil, false // "time value" means time
	}
	var all []string
	for folded, name := range r.args.keys {
		if !strings.HasSuffix(folded, both) {
			continue
		}
		if all = append(all, name); r.told(name) {
			names = append(names, name)
		}
	}
	if len(all) == 1 {
		return all, true
	}
	slices.Sort(names)
	return names, len(all) > 0
}

// isBare reports whether a token is a word of prose: lower case except for its first letter, and without punctuation.
func isBare(t token) bool {
	return t.kind == kindWord && len(t.text) > 2 && t.low[1:] == t.text[1:] && strings.IndexFunc(t.text, func(c rune) bool { return !unicode.IsLetter(c) }) < 0
}

// told reports whether the text contains the value of a top-level argument.
func (r *reader) told(name string) bool {
	v, _ := r.args.value.Get(name)
	text, ok := v.Str()
	return ok && len(text) > 1 && strings.Contains(r.cut, text)
}

func compoundStep(names []string, i int) []step {
	if len(names) == 0 {
		return nil
	}
	return []step{{names: names, next: i + 2}}
}
