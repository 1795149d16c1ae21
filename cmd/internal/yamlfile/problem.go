// Package yamlfile has the common parts of the readers of YAML files: limits that are checked before parsing, positions of values, and error
// reports. The content of a file is checked by its reader.
package yamlfile

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/internal/truncate"
)

// Problem is an error in a file, with its position and a hint.
type Problem struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"` // from 1; 0 for the file as a whole
	Column int    `json:"column,omitempty"`
	Text   string `json:"message"`          // the error
	Hint   string `json:"hint,omitempty"`   // how to fix it
	Source string `json:"source,omitempty"` // the line, safe to print; "" if it may hold a secret
}

// Place returns the position as in "candor.yaml:7:5", or only the file name.
func (p Problem) Place() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// String returns the position and the error, then the line with a mark, then the hint.
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

// indent returns the white space up to a column, with the tabs of the line.
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

// Error is the error for an invalid file, with at most [MaxProblems] problems in the order in which they were found.
type Error struct{ Problems []Problem }

// MaxProblems is the maximum number of problems that are reported.
const MaxProblems = 10

// Error returns all problems as [Problem.String] writes them.
func (e *Error) Error() string {
	texts := make([]string, 0, len(e.Problems))
	for _, p := range e.Problems {
		texts = append(texts, p.String())
	}
	return strings.Join(texts, "\n")
}

// Mistake is the error for an invalid value without its position, which may be in a file or on a command line.
type Mistake struct {
	Text string // the error
	Hint string // how to fix it
}

// NewMistake returns a mistake with a hint and a text formatted by [fmt.Sprintf].
func NewMistake(hint, format string, args ...any) *Mistake {
	return &Mistake{Text: fmt.Sprintf(format, args...), Hint: hint}
}

// Error returns the text with the hint in parentheses.
func (m *Mistake) Error() string {
	if m.Hint == "" {
		return m.Text
	}
	return m.Text + " (hint: " + m.Hint + ")"
}

// Quote quotes a word of a file, shortened to 60 bytes.
func Quote(text string) string {
	return fmt.Sprintf("%q", truncate.Text(text, 60+len(truncate.Mark)))
}

// shown returns a line of a file without secrets and control characters.
func shown(line string) string {
	const most = 200
	line = line[:min(len(line), 16*most)] // a file may be one long line
	line = redact.Policy{KeepPaths: true}.Text(strings.TrimRight(line, "\r\n"))
	return truncate.Text(strings.Map(func(r rune) rune {
		if r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, line), most+len(truncate.Mark))
}

var sizeForm = lazyregexp.New(`^([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]+)$`)

var sizeUnits = map[string]float64{
	"b": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "kb": 1e3, "mb": 1e6, "gb": 1e9,
}

// MaxSize is the largest size that [Size] returns.
const MaxSize = 1 << 50

// Size parses a number of bytes with a unit, such as 512KiB, 16MiB or 1.5GiB. Larger sizes are [MaxSize]. The error is a [*Mistake].
func Size(text string) (bytes int64, err error) {
	parts := sizeForm.FindStringSubmatch(text)
	if parts == nil && IsNumber(text) {
		return 0, NewMistake("write the unit: "+text+"B, "+text+"KiB or "+text+"MiB", "the size %s has no unit", Quote(text))
	}
	if parts == nil || sizeUnits[strings.ToLower(parts[2])] == 0 {
		return 0, NewMistake("use a size such as 512KiB, 16MiB or 1GiB", "%s is not a size", Quote(text))
	}
	number, _ := strconv.ParseFloat(parts[1], 64) // it can only be too large, and is infinite then
	return int64(min(math.Round(number*sizeUnits[strings.ToLower(parts[2])]), MaxSize)), nil
}

// IsNumber reports whether a text is a number, such as a size or a duration without its unit.
func IsNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}
