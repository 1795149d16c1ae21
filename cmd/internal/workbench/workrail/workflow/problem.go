package workflow

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/token"

	"github.com/candor-mcp/candor/cmd/internal/yamlfile"
)

// Severity is error or warning.
type Severity string

// The severities. A workflow with an error cannot be used; one with warnings can.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// NotRegular is the reason why a file in a workflow directory is not read.
const NotRegular = "not a regular file, such as a symbolic link or a pipe, which is never read"

// Problem is one error or warning about a file.
type Problem struct {
	File     string   `json:"file"`
	Line     int      `json:"line,omitempty"` // from 1; 0 means the whole file
	Column   int      `json:"column,omitempty"`
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`          // the error, and the expected value
	Hint     string   `json:"hint,omitempty"`   // how to fix it
	Source   string   `json:"source,omitempty"` // the line, without secrets and control characters
}

// String returns the position and the message, then the line with a mark below the position, then the hint.
func (p Problem) String() string {
	text := p.Message
	if p.Severity == SeverityWarning {
		text = "warning: " + text
	}
	return yamlfile.Problem{File: Printable(p.File), Line: p.Line, Column: p.Column, Source: p.Source, Text: text, Hint: p.Hint}.String()
}

// Printable returns the name of a file for messages, quoted if it has invisible characters or line breaks.
func Printable(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// Error is the error of [Parse] for a file that cannot be used. It lists at most [MaxProblems] problems in the order of
// the file, then the number of omitted ones, and no warnings.
type Error struct{ Problems []Problem }

// Error returns all problems, each as [Problem.String] does.
func (e *Error) Error() string {
	texts := make([]string, 0, len(e.Problems))
	for _, p := range e.Problems {
		texts = append(texts, p.String())
	}
	return strings.Join(texts, "\n")
}

// fail records an error at a token.
func (r *reader) fail(at *token.Token, hint, format string, args ...any) {
	r.errors.At(at, yamlfile.NewMistake(hint, format, args...))
}

// warn records a warning at a token.
func (r *reader) warn(at *token.Token, hint, format string, args ...any) {
	r.warnings.At(at, yamlfile.NewMistake(hint, format, args...))
}

// problems returns the recorded problems in the order of the file.
func problems(report *yamlfile.Report, severity Severity) []Problem {
	err := report.Err()
	if err == nil {
		return nil
	}
	list, ok := err.(*yamlfile.Error) //nolint:errorlint // a Report has no other error, and does not wrap it
	if !ok {
		return nil
	}
	out := make([]Problem, 0, len(list.Problems))
	for _, p := range list.Problems {
		out = append(out, Problem{
			File: p.File, Line: p.Line, Column: p.Column, Severity: severity, Message: p.Text, Hint: p.Hint, Source: p.Source,
		})
	}
	slices.SortStableFunc(out, func(a, b Problem) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) })
	if more := report.Dropped(); more > 0 {
		out = append(out, Problem{File: out[0].File, Severity: severity, Message: fmt.Sprintf("and %d more, which are not listed", more)})
	}
	return out
}

// quote writes a word of the file for a message, bounded in length.
func quote(text string) string { return yamlfile.Quote(text) }
