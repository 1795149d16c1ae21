package foreign

import "strings"

// A line that begins with a name and continues like a validator's sentence needs no wrapper to be recognised: "hue: Invalid type.
// Expected: integer", "  - unit: must be equal to constant".

// predicates are beginnings that only a validator's sentence has after a name and a colon.
var predicates = []string{"must be ", "must not ", "must have ", "must contain ", "must match ", "should be ", "should not ", "should have ", "is required", "Required", "required", "Invalid type", "invalid type",
	"Expected ", "expected ", "cannot be ", "can't be ", "may not be ", "Field required", "field required", "Missing required", "missing required", "This field", "This value", "Not a valid ", "not a valid ",
	"value must ", "Value must ", "Input should ", "String must ", "String should ", "Number must ", "Array must ", "String length ", "Does not match", "does not match ", "does not validate ", "Must be ", "is not a valid ",
	"has to be ", "Invalid input: ", "Invalid value: Expected", "is missing", "is invalid", "is too ", "Unknown field", "unknown field", "non zero value required", "value is not a valid ", "value is required",
	"value length must ", "Validation error: ", "not a valid", "length is ", "lower than ", "greater than ", "none is not an allowed value", "Missing data for required", "unexpected value", "must_be", "wrong type"}

func startsPredicate(s string) bool {
	for _, p := range predicates {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// nameLines reads such lines, also several in one line separated by semicolons.
func (r *reader) nameLines(s string) bool {
	found := false
	for line := range strings.Lines(s) {
		for part := range strings.SplitSeq(line, "; ") {
			name, message, ok := cutName(part)
			if !ok {
				continue
			}
			known := r.args.has(stepsOf(name)[0])
			if !startsPredicate(message) || !known && !isFieldName(name) {
				continue
			}
			r.place(stepsOf(name), "", message)
			found = true
		}
	}
	return found
}

// cutName splits "- name: message" and "name - message".
func cutName(part string) (name, message string, ok bool) {
	part = strings.TrimLeft(strings.TrimSpace(part), "-*•·✖❌→0123456789.) ")
	name, message, ok = strings.Cut(part, ": ")
	if head, rest, dash := strings.Cut(part, " - "); dash && (!ok || len(head) < len(name)) {
		name, message, ok = head, rest, true
	}
	name = strings.Trim(strings.TrimPrefix(name, "invalid "), "\"'`*[]")
	return name, strings.TrimSpace(message), ok && isPath(name) && plainSteps(stepsOf(name))
}

// isFieldName distinguishes the name of a field from the name of a program or a word of prose before a colon.
func isFieldName(name string) bool {
	low := strings.ToLower(name)
	steps := stepsOf(name)
	if never[low] || neverPath(name) || isSymbol(name) || isException(steps[0]) {
		return false
	}
	return isLower(name[0]) || strings.ContainsAny(name, "._") || name[0] >= 0x80
}

// railsTails end the sentences of Active Model, which begin with the readable form of a name.
var railsTails = []string{" can't be blank", " is invalid", " is too short", " is too long", " is not a number", " has already been taken", " is not included in the list", " is reserved", " can't be empty",
	" must exist", " must be accepted", " is the wrong length", " must be greater than", " must be less than", " must be blank", " must be an integer", " doesn't match", " must be filled", " is not a valid", " must be present",
	" must be equal to", " must be other than", " must be odd", " must be even", " must be in", " can't be nil"}

// rails reads "Slug is invalid, First name can't be blank".
func (r *reader) rails(s string) bool {
	if !r.validation {
		return false
	}
	found := false
	for part := range strings.SplitSeq(s, ", ") {
		for _, tail := range railsTails {
			name, _, ok := strings.Cut(part, tail)
			field := strings.ReplaceAll(strings.ToLower(name), " ", "_")
			if !ok || name == "" || !isUpper(name[0]) || strings.Count(name, " ") > 2 || !isPath(field) || never[field] || typed[field] && !r.args.has(field) {
				continue
			}
			r.place([]string{field}, "", part)
			found = true
			break
		}
	}
	return found
}

// trailing reads the name in brackets at the end of a validator's sentence: "Expected <=10 but received 99 (layers)".
func (r *reader) trailing(s string) bool {
	s = strings.TrimRight(s, ". \n")
	inside, ok := strings.CutSuffix(s, ")")
	_, name, opened := cutLast(inside, " (")
	if !ok || !opened || !isPath(name) {
		return false
	}
	steps := stepsOf(name)
	if len(steps) == 0 || !r.args.has(steps[0]) || !startsZod(s) && !r.validation && !isComplaint(s) {
		return false
	}
	r.place(steps, "", lineAt(s, len(s)-1))
	return true
}

// bracketed reads "path (Required), mode (Expected string, received number)": after a validation prefix, every name has its reason
// in brackets.
func (r *reader) bracketed(s string) bool {
	if !r.validation || !strings.HasSuffix(s, ")") {
		return false
	}
	type complaint struct{ path, reason string }
	var all []complaint
	for rest := s; rest != ""; {
		path, after, opened := strings.Cut(rest, " (")
		reason, next, closed := strings.Cut(after, ")")
		if !opened || !closed || !isPath(path) || reason == "" || len(all) == MaxIssues {
			return false
		}
		all = append(all, complaint{path, reason})
		next, joined := strings.CutPrefix(next, ", ")
		if !joined && next != "" {
			return false
		}
		rest = next
	}
	for _, c := range all {
		r.named(c.path, ruleOf(c.reason), c.reason)
	}
	return len(all) > 0
}

// ruleOf returns the rule for a reason that is only the name of the rule, or "".
func ruleOf(reason string) string {
	if strings.EqualFold(reason, "required") {
		return "required"
	}
	return ""
}

// alternatives reads "Please provide either: 1) projectId with branch, 2) projectURL", where some of the declared names are
// enough.
func (r *reader) alternatives(s string, toks []token) {
	for i := 0; i+1 < len(toks); i++ {
		if !offers[toks[i].low] || toks[i+1].low != "either" && toks[i+1].low != "one" {
			continue
		}
		for _, t := range toks[i+2:] {
			if t.text == "." || t.text == "\n" {
				break
			}
			if t.kind == kindWord && looksDeclared(t.text) && isPath(t.text) && !isSymbol(t.text) {
				r.named(t.text, "anyOf", lineAt(s, toks[i].at))
			}
		}
		return
	}
}

var offers = set("provide", "specify", "supply", "pass")
