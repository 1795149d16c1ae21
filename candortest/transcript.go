package candortest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/candor-mcp/candor"
)

// transcript is a bounded record of the messages of a check: the first messages and the number of further ones.
type transcript struct {
	out, in page
}

// page holds raw lines and formats them only on demand, because most checks pass and need no text.
type page struct {
	lines []line
	more  int
}

type line struct {
	prefix string
	start  []byte // the part that is shown
	size   int
}

const (
	maxLines = 6
	maxLine  = 600
	maxStart = 4 * maxLine // redaction may shorten the text
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
	if len(p.lines) == maxLines { // keep the last line, which is usually the one that the check is about
		p.lines = p.lines[:maxLines-1]
		p.more++
	}
	p.lines = append(p.lines, line{prefix, bytes.Clone(raw[:min(len(raw), maxStart)]), len(raw)})
}

// String returns the lines. The last one is always the last message.
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

// show returns raw as one short, redacted line of text.
func show(raw []byte) string { return showStart(raw[:min(len(raw), maxStart)], len(raw)) }

func showStart(start []byte, size int) string {
	text := strings.Replace(readable(start), string(Era2026.meta()), "{…}", 1) // every request has it
	text = candor.Public(text, maxLine)
	if size > len(start) {
		text += fmt.Sprintf(" (%d bytes)", size)
	}
	return text
}

// readable escapes bytes that are not text and invisible characters, so that the finding shows them.
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
