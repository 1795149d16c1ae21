package candortest

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/candor-mcp/candor/contract"
)

// transcript is what was said during a check, bounded: the first messages and how many more there were.
type transcript struct {
	out, in page
}

type page struct {
	lines []string
	more  int
}

const (
	maxLines = 6
	maxLine  = 600
)

func (t *transcript) sent(raw []byte) { t.out.add(show(raw)) }

func (t *transcript) got(f Frame) {
	line := show(f.Data)
	if f.Status != 0 {
		line = strings.TrimSpace(fmt.Sprintf("HTTP %d %s %s", f.Status, f.Type, line))
	}
	t.in.add(line)
}

func (p *page) add(line string) {
	if len(p.lines) == maxLines {
		copy(p.lines[maxLines-2:], p.lines[maxLines-1:]) // the last one is what the check was about, as a rule
		p.lines = p.lines[:maxLines-1]
		p.more++
	}
	p.lines = append(p.lines, line)
}

// String returns the lines, the last of which is always the last one said.
func (p *page) String() string {
	if p.more == 0 {
		return strings.Join(p.lines, "\n")
	}
	last := len(p.lines) - 1
	return strings.Join(p.lines[:last], "\n") + fmt.Sprintf("\n… %d more …\n", p.more) + p.lines[last]
}

// show makes what went over the wire fit to be read by people: short, redacted, on one line.
func show(raw []byte) string {
	size := len(raw)
	line := contract.Bound(readable(raw[:min(size, 4*maxLine)]), maxLine)
	if size > 4*maxLine {
		line += fmt.Sprintf(" (%d bytes)", size)
	}
	return line
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
