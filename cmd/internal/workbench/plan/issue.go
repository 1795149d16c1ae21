package plan

import (
	"cmp"
	"fmt"
	"slices"
)

// Severity is the severity of an issue. An error makes a plan invalid.
type Severity string

// The severities.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Issue is one problem of a plan and its position. Line and Column count from 1, the column in characters; 0 means the
// plan as a whole.
type Issue struct {
	Line     int      `json:"line"`
	Column   int      `json:"column"`
	Rule     string   `json:"rule"`
	Message  string   `json:"message"`
	Hint     string   `json:"hint,omitempty"`
	Severity Severity `json:"severity"`
}

// String returns the issue on one line, in the style of a compiler.
func (i Issue) String() string {
	s := fmt.Sprintf("%d:%d: %s: %s (%s)", i.Line, i.Column, i.Severity, i.Message, i.Rule)
	if i.Hint != "" {
		s += "; hint: " + i.Hint
	}
	return s
}

// Rules that an issue can name.
const (
	ruleSize        = "size"
	ruleText        = "utf8"
	ruleControl     = "control-character"
	ruleHidden      = "hidden-character"
	ruleHeader      = "header"
	ruleFront       = "front-matter"
	ruleYAML        = "yaml"
	ruleDuplicate   = "duplicate"
	ruleUnknown     = "unknown-key"
	ruleTitle       = "title"
	ruleScope       = "scope"
	ruleScopeDoubt  = "scope-doubt"
	rulePhase       = "phase"
	ruleEmpty       = "empty-text"
	rulePlaceholder = "placeholder"
)

// linter collects issues. failed is set by any error, even if the list of issues is full.
type linter struct {
	issues []Issue
	failed bool
}

func (l *linter) fail(line, column int, rule, message, hint string) {
	l.failed = true
	l.add(Issue{line, column, rule, message, hint, SeverityError})
}

func (l *linter) warn(line, column int, rule, message, hint string) {
	l.add(Issue{line, column, rule, message, hint, SeverityWarning})
}

func (l *linter) add(i Issue) {
	if len(l.issues) < MaxIssues {
		l.issues = append(l.issues, i)
		return
	}
	if last := &l.issues[MaxIssues-1]; i.Severity == SeverityError && last.Severity == SeverityWarning {
		*last = i // an error replaces a warning
	}
}

func (l *linter) sort() {
	slices.SortStableFunc(l.issues, func(a, b Issue) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) })
}
