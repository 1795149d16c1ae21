// Package yamlfile is what the readers of our YAML files have in common: the bounds that hold before anything is parsed, where a value
// stands, and how what is wrong with it is told. What a file may say is the business of its reader.
package yamlfile

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/internal/truncate"
)

// Problem is one thing that is wrong with a file, where it stands, and what to do about it.
type Problem struct {
	File         string
	Line, Column int    // from 1; 0 if the file as a whole is meant
	Source       string // the line itself, safe to print; "" if it may hold a secret
	Text         string // what is wrong
	Hint         string // what would do
}

// Place returns "candor.yaml:7:5", or the name of the file alone.
func (p Problem) Place() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// String returns the place and the problem, then the line itself with a mark below the place, then the hint.
func (p Problem) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", p.Place(), p.Text)
	if p.Source != "" {
		number := fmt.Sprint(p.Line)
		fmt.Fprintf(&b, "\n  %s | %s\n  %s | %s^", number, p.Source, strings.Repeat(" ", len(number)), indent(p.Source, p.Column))
	}
	if p.Hint != "" {
		fmt.Fprintf(&b, "\n  hint: %s", p.Hint)
	}
	return b.String()
}

// indent is the space up to a column, with tabs where the line has them.
func indent(source string, column int) string {
	var b strings.Builder
	for _, r := range source {
		if column--; column < 1 {
			break
		}
		if r == '\t' {
			b.WriteRune('\t')
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// Error is a file that cannot be used. It lists its problems in the order in which they were found, at most [MaxProblems].
type Error struct{ Problems []Problem }

// MaxProblems is how many problems of a file are told at once.
const MaxProblems = 10

// Error returns all problems, each as [Problem.String] has it.
func (e *Error) Error() string {
	texts := make([]string, 0, len(e.Problems))
	for _, p := range e.Problems {
		texts = append(texts, p.String())
	}
	return strings.Join(texts, "\n")
}

// Mistake is a value that cannot be used, before anybody knows where it stands: in a file or on a command line.
type Mistake struct {
	Text string // what is wrong
	Hint string // what would do
}

// NewMistake returns the mistake with that hint and a text made as by [fmt.Sprintf].
func NewMistake(hint, format string, args ...any) *Mistake {
	return &Mistake{Text: fmt.Sprintf(format, args...), Hint: hint}
}

// Error returns both.
func (m *Mistake) Error() string {
	if m.Hint == "" {
		return m.Text
	}
	return m.Text + " (hint: " + m.Hint + ")"
}

// Quote writes a word of a file for a sentence, bounded.
func Quote(text string) string {
	return fmt.Sprintf("%q", truncate.Text(text, 60+len(truncate.Mark)))
}

// shown makes a line of a file safe to print: secrets and what a terminal would obey are gone.
func shown(line string) string {
	const most = 200
	line = line[:min(len(line), 16*most)] // a file may be one long line with many problems
	line = redact.Policy{KeepPaths: true}.Text(strings.TrimRight(line, "\r\n"))
	runes := []rune(strings.Map(func(r rune) rune {
		if r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, line))
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(runes)
}
