package foreign

import "strings"

// Where no known form fits, the request is the evidence: a sentence that complains of a value and has the exact
// name of an argument in a place where prose has no such word is about that argument.

// evident reads such sentences. It is the last resort, so it runs only if nothing else found a field.
func (r *reader) evident(s string) {
	if r.args.empty() || r.said.Status != 0 || r.said.Errno != "" {
		return
	}
	toks := r.tokens(s)
	for i, t := range toks {
		if t.kind != kindWord && t.kind != kindQuoted || r.isOther(t.text) || !isPath(t.text) {
			continue
		}
		steps := r.rooted(stepsOf(t.text))
		if len(steps) == 0 || !r.args.has(steps[0]) || !r.pointsAt(toks, i, steps) {
			continue
		}
		if line := lineAt(s, t.at); !strings.HasPrefix(t.text, "$") && blames(line) {
			r.place(steps, "", line)
		}
	}
}

// isOther reports a single word that names no argument, as most words do. "params" has a meaning of its own in a path.
func (r *reader) isOther(word string) bool {
	return !strings.ContainsAny(word, "./[]") && word != "params" && !r.args.has(word)
}

// blames reports a sentence that finds fault with a value, not with the state of what the value names.
func blames(line string) bool {
	low := strings.ToLower(line)
	for _, state := range []string{"not found", "not exist", "already", "denied", "permission", "no such", "unavailable", "timed out"} {
		if strings.Contains(low, state) {
			return false
		}
	}
	for _, fault := range []string{"valid", "must", "should", "expected", "support", "greater", "less than", "one of", "out of range", "at least", "at most", "too ", "required", "missing", "allowed", "malformed", "cannot be", "illegal", "unknown", "wrong", "bounds", "wanted"} {
		if strings.Contains(low, fault) {
			return true
		}
	}
	return false
}

// pointsAt reports that token i is a name and not a word of the sentence: it is quoted or declared, opens it
// before a colon, or stands beside the value that was sent for it.
func (r *reader) pointsAt(toks []token, i int, steps []string) bool {
	t := toks[i]
	if t.kind == kindQuoted {
		return !r.args.sent(t.text)
	}
	if t.text != t.low && !looksDeclared(t.text) {
		return false
	}
	if looksDeclared(t.text) || t.head && i+1 < len(toks) && toks[i+1].text == ":" {
		return true
	}
	for _, at := range []int{i - 2, i - 1, i + 1, i + 2} {
		if at >= 0 && at < len(toks) && r.args.holds(steps[0], toks[at].text) {
			return true
		}
	}
	return false
}
