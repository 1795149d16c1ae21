package foreign

import (
	"strings"

	"github.com/candor-mcp/candor/internal/pointer"
)

// A line that begins with a name and continues like a validator's sentence needs no wrapper to be recognised: "hue: Invalid type.
// Expected: integer", "  - unit: must be equal to constant".

func startsPredicate(s string) bool {
	for _, p := range tables().Predicates {
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
	if tables().Never[low] || neverPath(name) || isSymbol(name) || isException(steps[0]) {
		return false
	}
	return isLower(name[0]) || strings.ContainsAny(name, "._") || name[0] >= 0x80
}

// place adds an issue for a path that a validator marked.
func (r *reader) place(steps []string, rule, message string) {
	steps = r.rooted(steps)
	if key, ok := r.args.spelling(steps[0]); ok {
		steps[0] = key
	}
	is := judged(message)
	is.Path = pointer.Of(steps...)
	if rule != "" {
		is.Rule = rule
	}
	r.issue(is)
}

// plainSteps reports whether every step of a path is a name or an index.
func plainSteps(steps []string) bool {
	for _, step := range steps {
		if !isPath(step) && !isIndex(step) {
			return false
		}
	}
	return len(steps) > 0 && len(steps) <= 16
}
