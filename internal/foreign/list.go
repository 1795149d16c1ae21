package foreign

import (
	"cmp"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/pointer"
	"github.com/candor-mcp/candor/wire"
)

// issueMap reads names mapped to lists of sentences: {"boat": ["The boat field is required."]}.
func (r *reader) issueMap(v wire.Value) {
	if v.Len() > maxElements {
		return
	}
	for name, m := range v.Members() {
		first := m.Path(0)
		if key := str(name); isPath(key) && !tables().Lists[Fold(key)] && str(first) != "" {
			is := judged(str(first))
			is.Path = pointer.Of(r.rooted([]string{key})...)
			r.issue(is)
		}
	}
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
	why := false
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
	for _, name := range places {
		p, has := e.Get(name)
		switch {
		case !has:
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

// issueObject adds one issue, or those inside it.
func (r *reader) issueObject(e wire.Value, under []string) {
	if str(e.Path("resource")) != "" && str(e.Path("field")) != "" {
		r.status(422) // the form of GitHub's answers with that status
	}
	steps, _ := placeOf(e)
	steps = append(append([]string(nil), under...), steps...)
	if len(steps) > 0 && steps[0] == "response" && !r.args.has("response") {
		r.said.OfAnswer = true
		return
	}
	if r.union(e, steps, under) {
		return
	}
	if extra := arraySteps(e.Path("keys")); len(extra) > 0 {
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
	outer := r.either
	r.either = true
	for branch := range e.Path("unionErrors").Elements() {
		found = r.issueList(branch.Path("issues"), under) || found
	}
	for branch := range e.Path("errors").Elements() {
		found = r.issueList(branch, steps) || found
	}
	r.either = outer
	if found && len(steps) > 0 {
		r.issue(r.issueOf(e, steps))
	}
	return found
}

func (r *reader) issueOf(e wire.Value, steps []string) candor.Issue {
	message := ""
	for _, name := range whys {
		message = cmp.Or(message, str(e.Path(name)))
	}
	is := judged(message)
	is.Path = pointer.Of(r.rooted(steps)...)
	for _, name := range []string{"code", "keyword", "type", "rule", "constraint", "validator"} {
		if rule := tables().Rules[str(e.Path(name))]; rule != "" {
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
		if t, ok := want["type"].(string); ok && len(steps) == 0 && message == "Required" { // the word alone names nothing
			is.Message = "Required: expected " + t + ", received " + cmp.Or(str(e.Path("received")), "nothing")
		}
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
	for _, name := range []string{"maximum", "minimum"} {
		if n, ok := float(e.Path(name)); ok {
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
