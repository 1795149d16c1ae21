// Package report writes a [probe.Report] for people and for programs, reads one back, and compares two.
//
// The same report always gives the same bytes. Every text of a server may be hostile: it may contain escape sequences,
// bidirectional text, markup, fences and tags. [plain] and the escaping of each format make it safe.
package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/candor-mcp/candor/internal/probe"
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

// Options configures [Write]. The zero value is right for a file.
type Options struct {
	Colour bool // text only: use colours
	Source Source
}

// Source is the file that the results of SARIF refer to. Code scanning refuses results without one. The zero value is none.
type Source struct {
	Path  string         // relative to the root of the repository, with slashes
	Lines map[string]int // line of a tool, from 1; a tool without one is on line 1
}

// textWidth is the number of characters in a line of text.
const textWidth = 100

// writers has the function for each format; Formats gives their order.
var writers = map[string]func(io.Writer, *probe.Report, Options) error{
	FormatText:     writeText,
	FormatJSON:     writeJSON,
	FormatMarkdown: writeMarkdown,
	FormatHTML:     writeHTML,
	FormatJUnit:    writeJUnit,
	FormatSARIF:    writeSARIF,
}

// Formats returns the names of the formats of [Write]. The caller owns the slice.
func Formats() []string {
	return []string{FormatText, FormatJSON, FormatMarkdown, FormatHTML, FormatJUnit, FormatSARIF}
}

// Write writes a report. It fails for a format that is not in [Formats], for a nil report, and if w fails. It does not change r. A report that
// was read from a file may have any content.
func Write(w io.Writer, format string, r *probe.Report, o Options) error {
	if r == nil {
		return fmt.Errorf("writing a report: nil report")
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
	return fmt.Errorf("writing a report: unknown format %q (hint: use one of %s)", format, strings.Join(known, ", "))
}

// writeJSON writes the report as JSON, which [Read] reads. Angle brackets are escaped, so that it can be embedded in a page.
func writeJSON(w io.Writer, r *probe.Report, _ Options) error { return encode(w, r) }

// encode writes indented JSON. Characters that a terminal would interpret or not show are escaped, which does not change the value.
func encode(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	var out strings.Builder
	for _, r := range b.String() {
		switch {
		case unicode.IsPrint(r) || r == '\n':
			out.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}
