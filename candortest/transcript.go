package candortest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/candor-mcp/candor/contract"
)

// transcript is what was said during a check, bounded: the first messages and how many more there were.
type transcript struct {
	out, in page
}

// page holds lines as they were until somebody reads them: most checks pass and nobody does.
type page struct {
	lines []line
	more  int
}

type line struct {
	prefix string
	start  []byte // as much as is shown
	size   int
}

const (
	maxLines = 6
	maxLine  = 600
	maxStart = 4 * maxLine // redaction may shorten
)

func (t *transcript) sent(raw []byte) { t.out.add("", raw) }

func (t *transcript) got(f Frame) {
	prefix := ""
	if f.Status != 0 {
		prefix = fmt.Sprintf("HTTP %d %s ", f.Status, f.Type)
	}
	t.in.add(prefix, f.Data)
}

func (p *page) add(prefix string, raw []byte) {
	if len(p.lines) == maxLines { // the last one is what the check was about, as a rule: keep room for it
		p.lines = p.lines[:maxLines-1]
		p.more++
	}
	p.lines = append(p.lines, line{prefix, bytes.Clone(raw[:min(len(raw), maxStart)]), len(raw)})
}

// String returns the lines, the last of which is always the last one said.
func (p *page) String() string {
	texts := make([]string, len(p.lines))
	for i, l := range p.lines {
		texts[i] = strings.TrimSpace(l.prefix + showStart(l.start, l.size))
	}
	if p.more > 0 {
		texts = slices.Insert(texts, maxLines-1, fmt.Sprintf("… %d more …", p.more))
	}
	return strings.Join(texts, "\n")
}

// show makes what went over the wire fit to be read by people: short, redacted, on one line.
func show(raw []byte) string { return showStart(raw[:min(len(raw), maxStart)], len(raw)) }

func showStart(start []byte, size int) string {
	text := strings.Replace(readable(start), string(Era2026.meta()), "{…}", 1) // every request has it
	text = contract.Bound(text, maxLine)
	if size > len(start) {
		text += fmt.Sprintf(" (%d bytes)", size)
	}
	return text
}

// readable spells bytes that are no text, and the marks that cannot be seen, so that the finding shows what was wrong.
func readable(raw []byte) string {
	raw = bytes.TrimRight(raw, "\n")
	var b strings.Builder
	for len(raw) > 0 {
		r, size := utf8.DecodeRune(raw)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, raw[0])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\ufeff':
			b.WriteString(`\ufeff`)
		default:
			b.Write(raw[:size])
		}
		raw = raw[size:]
	}
	return b.String()
}
