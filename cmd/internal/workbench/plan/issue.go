package plan

import (
	"cmp"
	"fmt"
	"slices"
)

// Issue is one problem of a plan and its position. Line and Column count from 1, the column in characters; 0 means the
// plan as a whole.
type Issue struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Rule    string `json:"rule"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// String returns the issue on one line, in the style of a compiler.
func (i Issue) String() string {
	s := fmt.Sprintf("%d:%d: %s (%s)", i.Line, i.Column, i.Message, i.Rule)
	if i.Hint != "" {
		s += "; hint: " + i.Hint
	}
	return s
}

// linter collects issues, at most MaxIssues.
type linter struct{ issues []Issue }

func (l *linter) fail(line, column int, rule, message, hint string) {
	if len(l.issues) < MaxIssues {
		l.issues = append(l.issues, Issue{line, column, rule, message, hint})
	}
}

func (l *linter) sort() {
	slices.SortStableFunc(l.issues, func(a, b Issue) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) })
}
