package foreign

import "strings"

// bracketed reads "path (Required), mode (Expected string, received number)": after a wrapper that speaks of arguments, every name has its
// reason in brackets.
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

// ruleOf is the rule of a reason that is nothing but its name.
func ruleOf(reason string) string {
	if strings.EqualFold(reason, "required") {
		return "required"
	}
	return ""
}

// alternatives reads "Please provide either: 1) projectId with branch, 2) projectURL": of the declared names in the sentence, some will do.
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
