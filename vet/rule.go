package vet

import (
	"slices"
	"strings"
)

// rule is a rule for handlers: "rawerror", "maskederror", "logandcontinue" or "swallowed". Its name is the category of its diagnostics and the word in an allow comment.
type rule struct {
	name    string
	summary string // what the rule finds
	next    string // what to do about a finding
}

// Names of the rules. They appear in configurations and comments of users and are never renamed.
const (
	ruleRawError       = "rawerror"
	ruleMaskedError    = "maskederror"
	ruleLogAndContinue = "logandcontinue"
	ruleSwallowed      = "swallowed"
)

// badAllow is the category of an invalid allow comment. It is not a rule: it cannot be enabled or allowed.
const badAllow = "allow"

var rules = []rule{
	{ruleRawError, "a plain Go error leaves a handler, so the client gets no code and no retry advice",
		"return candor.From(err), or candor.New with a code from candor codes"},
	{ruleMaskedError, "a failure is returned as a success, so the client believes the call worked",
		"return the error instead of a result, such as candor.From(err)"},
	{ruleLogAndContinue, "an error is logged and the handler continues as if nothing happened",
		"return candor.From(err), or use the error"},
	{ruleSwallowed, "an error is dropped, and the client and the operator do not learn of it",
		"return candor.From(err), or say why not: //candor:allow swallowed REASON"},
}

func ruleNames() []string {
	var names []string
	for _, r := range rules {
		names = append(names, r.name)
	}
	return names
}

// nextStep returns the advice for a diagnostic of this category.
func nextStep(category string) string {
	if r, ok := ruleNamed(category); ok {
		return r.next
	}
	return "write //candor:allow RULE REASON with one of the rules " + strings.Join(ruleNames(), ", ")
}

func ruleNamed(name string) (rule, bool) {
	i := slices.IndexFunc(rules, func(r rule) bool { return r.name == name })
	if i < 0 {
		return rule{}, false
	}
	return rules[i], true
}

func ruleLines() string {
	var b strings.Builder
	for _, r := range rules {
		b.WriteString(r.name + ": " + r.summary + "\n")
	}
	return b.String()
}
