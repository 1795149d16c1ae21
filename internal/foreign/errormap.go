package foreign

import (
	"strings"

	"github.com/candor-mcp/candor/wire"
)

// Some validators answer with only names and their faults: {"email": ["Enter a valid email address."]}. No member marks this as a
// failure, so the sentences decide.

// complaints are words of sentences about an invalid value. The words in signs count, too.
var complaints = []string{"valid", "this field", "blank", "may not", "must", "unknown", "required", "not a", "choice", "allowed", "should", "ensure", "expected", "can't be", "cannot be", "too ",
	"already been", "does not", "doesn't", "missing", "unallowed", "filled", "null", "pflicht", "obligatori", "obrigat", "requis", "обязател", "必"}

// isComplaint reports whether a sentence describes the fault of a value.
func isComplaint(s string) bool {
	low := strings.ToLower(s)
	if len(low) > maxIssueText || !strings.Contains(low, " ") && low != "required" && low != "invalid" && !strings.Contains(low, "必") {
		return false
	}
	for _, words := range complaints {
		if strings.Contains(low, words) {
			return true
		}
	}
	return judged(s).Rule != ""
}

// general are the keys of such maps that hold sentences about the whole.
var general = set("nonfielderrors", "schema", "all", "base")

// enveloping are keys whose lists are read elsewhere. A map with one of them is an envelope.
var enveloping = set("errors", "error", "message", "messages", "detail", "details", "warnings", "warning", "hints", "notes", "suggestions", "logs")

// isErrorMap reports whether every member of an object is a name with complaints, or a map of the same form.
func isErrorMap(v wire.Value, levels int) bool {
	if v.Type() != wire.TypeObject || v.Len() == 0 || v.Len() > maxElements || levels == 0 {
		return false
	}
	for name, m := range v.Members() {
		key := str(name)
		if !isPath(key) && !isIndex(key) || enveloping[fold(key)] {
			return false
		}
		if m.Type() == wire.TypeObject && isErrorMap(m, levels-1) {
			continue
		}
		if !areComplaints(m) {
			return false
		}
	}
	return true
}

// areComplaints reports whether v is an array of complaints; Cerberus puts maps among them.
func areComplaints(v wire.Value) bool {
	if v.Type() != wire.TypeArray || v.Len() == 0 || v.Len() > maxElements {
		return false
	}
	for e := range v.Elements() {
		if !isComplaint(str(e)) && !isErrorMap(e, 2) {
			return false
		}
	}
	return true
}

// errorMap reads a map for which isErrorMap is true.
func (r *reader) errorMap(v wire.Value, under []string) {
	for name, m := range v.Members() {
		key := str(name)
		steps := append(append([]string(nil), under...), key)
		if m.Type() == wire.TypeObject {
			r.errorMap(m, steps)
			continue
		}
		for e := range m.Elements() {
			if e.Type() == wire.TypeObject {
				r.errorMap(e, steps)
				continue
			}
			if general[strings.Trim(fold(key), "_")] && !r.args.has(key) {
				continue
			}
			is := judged(str(e))
			is.Path = pointer(r.rooted(steps))
			r.issue(is)
		}
	}
}

// whole reads an object that is itself the report: a map of complaints, or one issue.
func (r *reader) whole(v wire.Value) {
	if isErrorMap(v, 3) {
		r.errorMap(v, nil)
		return
	}
	if r.isLoneIssue(v) {
		r.issueObject(v, nil)
	}
}

// isLoneIssue reports whether an object is a single issue outside a list, as TypeBox and yup throw it. Many objects have a path
// and a message, so the path has to be an argument or the message a complaint.
func (r *reader) isLoneIssue(v wire.Value) bool {
	p, ok := v.Get("path")
	if !ok {
		p, ok = v.Get("instancePath")
	}
	if !ok || !isIssue(v) || v.Path("errors").Type() == wire.TypeArray || v.Path("message").Type() != wire.TypeString {
		return false
	}
	steps := arraySteps(p)
	if p.Type() == wire.TypeString && isPath(strings.TrimLeft(str(p), "/.$")) {
		steps = stepsOf(str(p))
	}
	if len(steps) == 0 || len(steps) > 8 {
		return false
	}
	message := str(v.Path("message"))
	return r.args.has(steps[0]) && isComplaint(message) || startsZod(message) && (r.args.empty() || p.Type() == wire.TypeArray)
}
