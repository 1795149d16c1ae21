package candorvet

import (
	"slices"
	"strings"
)

// Rule is a rule for handlers. Its name is the category of its diagnostics and the word in an allow comment.
type Rule struct {
	Name    string
	Summary string // what the rule finds
	Next    string // what to do about a finding
}

// Names of the rules. They appear in configurations and comments of users and are never renamed.
const (
	RawError       = "rawerror"
	MaskedError    = "maskederror"
	LogAndContinue = "logandcontinue"
	Swallowed      = "swallowed"
)

// badAllow is the category of an invalid allow comment. It is not a rule: it cannot be enabled or allowed.
const badAllow = "allow"

var rules = []Rule{
	{RawError, "a plain Go error leaves a handler, so the client gets no code and no retry advice",
		"return candor.From(err), or candor.New with a code from candor codes"},
	{MaskedError, "a failure is returned as a success, so the client believes the call worked",
		"return the error instead of a result, such as candor.From(err)"},
	{LogAndContinue, "an error is logged and the handler goes on as if nothing happened",
		"return candor.From(err), or use the error"},
	{Swallowed, "an error is dropped, so neither the client nor the operator learns of it",
		"return candor.From(err), or say why not: //candor:allow swallowed REASON"},
}

// Rules returns every rule, in the order of the documentation.
func Rules() []Rule { return slices.Clone(rules) }

// RuleNames returns the names of [Rules].
func RuleNames() []string {
	var names []string
	for _, r := range rules {
		names = append(names, r.Name)
	}
	return names
}

// NextStep returns the advice for a diagnostic of this category.
func NextStep(category string) string {
	if r, ok := ruleNamed(category); ok {
		return r.Next
	}
	return "write //candor:allow RULE REASON with one of the rules " + strings.Join(RuleNames(), ", ")
}

func ruleNamed(name string) (Rule, bool) {
	i := slices.IndexFunc(rules, func(r Rule) bool { return r.Name == name })
	if i < 0 {
		return Rule{}, false
	}
	return rules[i], true
}

func ruleLines() string {
	var b strings.Builder
	for _, r := range rules {
		b.WriteString(r.Name + ": " + r.Summary + "\n")
	}
	return b.String()
}
