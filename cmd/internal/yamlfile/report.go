package yamlfile

import (
	"errors"
	"strings"

	"github.com/goccy/go-yaml/token"
)

// Report collects the problems of one file. It must be used by one goroutine.
type Report struct {
	file     string
	lines    []string
	problems []Problem
	limit    int
}

// NewReport returns an empty report on a file.
func NewReport(file string, data []byte) *Report {
	return &Report{file: file, lines: strings.Split(string(data), "\n"), limit: MaxProblems}
}

// SetLimit replaces [MaxProblems] as the limit of the report.
func (r *Report) SetLimit(limit int) { r.limit = limit }

// Whole adds a problem of the file as a whole.
func (r *Report) Whole(err error) { r.Add(problem(nil, err)) }

// At adds a problem at a token, with its line.
func (r *Report) At(t *token.Token, err error) {
	p := problem(t, err)
	if p.Line > 0 && p.Line <= len(r.lines) && len(r.problems) < r.limit {
		p.Source = shown(r.lines[p.Line-1])
	}
	r.Add(p)
}

// Hide adds a problem at a token without its line, which may hold a secret.
func (r *Report) Hide(t *token.Token, err error) { r.Add(problem(t, err)) }

// problem returns the problem for an error at a token. A [*Mistake] also gives the hint.
func problem(t *token.Token, err error) Problem {
	p := Problem{Text: err.Error()}
	p.Line, p.Column = Place(t)
	if m, ok := errors.AsType[*Mistake](err); ok {
		p.Text, p.Hint = m.Text, m.Hint
	}
	return p
}

// Add adds a problem; without a file name it is one of this file. Problems beyond the limit are not kept.
func (r *Report) Add(p Problem) {
	if p.File == "" {
		p.File = r.file
	}
	if len(r.problems) >= r.limit {
		return
	}
	r.problems = append(r.problems, p)
}

// Count returns the number of problems.
func (r *Report) Count() int { return len(r.problems) }

// Err returns an [*Error] with all problems, nil if there are none.
func (r *Report) Err() error {
	if len(r.problems) == 0 {
		return nil
	}
	return &Error{Problems: r.problems}
}
