// Package report writes a [probe.Report] for people and for programs, reads one back, and compares two.
//
// Rules of the room: the same report gives the same bytes, whatever the time, the machine and the order of a map; and all that a server
// said is hostile. It may hold escape sequences, text that runs backwards, markup, fences and tags, and it comes out as characters that
// do nothing: [plain] for people, and the escaping of each form on top of it.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/probe"
)

// The formats.
const (
	FormatText     = "text"
	FormatJSON     = "json"
	FormatMarkdown = "markdown"
	FormatHTML     = "html"
	FormatJUnit    = "junit"
	FormatSARIF    = "sarif"
)

// Options is how a report is written. The zero value is right for a file.
type Options struct {
	Colour bool // of text only: SGR sequences of our own; the server's are shown as text in any case
	Width  int  // of text only, in columns: 0 is 100; below 80 counts as 80, above 200 as 200
}

// The widths of text.
const (
	defaultWidth = 100
	minWidth     = 80
	maxWidth     = 200
)

func (o Options) width() int {
	if o.Width == 0 {
		return defaultWidth
	}
	return min(max(o.Width, minWidth), maxWidth)
}

// writers is the one table of the formats; Formats gives their order.
var writers = map[string]func(io.Writer, *probe.Report, Options) error{
	FormatText:     writeText,
	FormatJSON:     writeJSON,
	FormatMarkdown: writeMarkdown,
	FormatHTML:     writeHTML,
	FormatJUnit:    writeJUnit,
	FormatSARIF:    writeSARIF,
}

// Formats returns the names of the formats that [Write] knows. The caller owns the slice.
func Formats() []string {
	return []string{FormatText, FormatJSON, FormatMarkdown, FormatHTML, FormatJUnit, FormatSARIF}
}

// Write writes a report. It fails for a format that is not among [Formats], for a nil report, and where w fails. It does not change r,
// and does not count on r being in order: a report that was read from a file may say anything.
func Write(w io.Writer, format string, r *probe.Report, o Options) error {
	if r == nil {
		return fmt.Errorf("writing a report: there is none")
	}
	write, found := writers[format]
	if !found {
		return unknownFormat(format, Formats())
	}
	if err := write(w, r, o); err != nil {
		return fmt.Errorf("writing a report as %s: %w", format, err)
	}
	return nil
}

func unknownFormat(format string, known []string) error {
	return fmt.Errorf("writing a report: there is no format %q; hint: one of %s", format, strings.Join(known, ", "))
}

// writeJSON writes the report itself, which [Read] takes back. Angle brackets are escaped, so that it may be put into a page.
func writeJSON(w io.Writer, r *probe.Report, _ Options) error { return encode(w, r) }

// severities is the worst first.
var severities = []probe.Severity{probe.SeverityCritical, probe.SeverityMajor, probe.SeverityMinor, probe.SeverityInfo}

// rank orders severities; one that we do not know comes last.
func rank(s probe.Severity) int {
	if i := slices.Index(severities, s); i >= 0 {
		return i
	}
	return len(severities)
}
