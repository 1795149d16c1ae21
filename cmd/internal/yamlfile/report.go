package yamlfile

import (
	"errors"
	"strings"

	"github.com/goccy/go-yaml/token"
)

// Report collects what is wrong with one file. It is for one goroutine.
type Report struct {
	file     string
	lines    []string
	problems []Problem
	limit    int
	dropped  int
}

// NewReport begins the report on a file of that name and text.
func NewReport(file string, data []byte) *Report {
	return &Report{file: file, lines: strings.Split(string(data), "\n"), limit: MaxProblems}
}

// SetLimit replaces [MaxProblems] as the number of problems that are kept.
func (r *Report) SetLimit(limit int) { r.limit = limit }

// Dropped returns how many problems were found beyond the limit.
func (r *Report) Dropped() int { return r.dropped }

// Whole tells a problem of the file as a whole.
func (r *Report) Whole(err error) { r.Add(problem(nil, err)) }

// At tells a problem of what stands at a token, and shows the line.
func (r *Report) At(t *token.Token, err error) {
	p := problem(t, err)
	if p.Line > 0 && p.Line <= len(r.lines) && len(r.problems) < r.limit {
		p.Source = shown(r.lines[p.Line-1])
	}
	r.Add(p)
}

// Hide tells a problem of what stands at a token and may be a secret: the line is not shown.
func (r *Report) Hide(t *token.Token, err error) { r.Add(problem(t, err)) }

// problem is what an error says of a token. A [*Mistake] has a hint, and another error is its text.
func problem(t *token.Token, err error) Problem {
	p := Problem{Text: err.Error()}
	p.Line, p.Column = Place(t)
	if m, ok := errors.AsType[*Mistake](err); ok {
		p.Text, p.Hint = m.Text, m.Hint
	}
	return p
}

// Add takes a problem as it is; one that names no file is one of this file. Those beyond the limit are only counted.
func (r *Report) Add(p Problem) {
	if p.File == "" {
		p.File = r.file
	}
	if len(r.problems) >= r.limit {
		r.dropped++
		return
	}
	r.problems = append(r.problems, p)
}

// Count returns how many problems there are.
func (r *Report) Count() int { return len(r.problems) }

// Err returns all that was told as an [*Error], nil if nothing was.
func (r *Report) Err() error {
	if len(r.problems) == 0 {
		return nil
	}
	return &Error{Problems: r.problems}
}
