package candortest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/mcpclient"
)

// transcript is a bounded record of the messages of a check.
type transcript struct{ sent, got page }

// page holds the first messages, the last one, and the number of those between. It formats them only on demand, because
// most checks pass and need no text.
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

func (p *page) message(m mcpclient.Message) {
	prefix := ""
	if m.Status != 0 {
		prefix = fmt.Sprintf("HTTP %d %s ", m.Status, m.Type)
	}
	p.add(prefix, m.Data)
}

func (p *page) add(prefix string, raw []byte) {
	if len(p.lines) == maxLines { // keep the last line, which is usually the one that the check is about
		p.lines = p.lines[:maxLines-1]
		p.more++
	}
	p.lines = append(p.lines, line{prefix, bytes.Clone(raw[:min(len(raw), maxStart)]), len(raw)})
}

func (p *page) String() string {
	var texts []string
	for _, l := range p.lines {
		texts = append(texts, strings.TrimSpace(l.prefix+l.String()))
	}
	if p.more > 0 {
		texts = slices.Insert(texts, maxLines-1, fmt.Sprintf("… %d more …", p.more))
	}
	return strings.Join(texts, "\n")
}

// show returns raw as one short, redacted line of text.
func show(raw []byte) string {
	return line{start: raw[:min(len(raw), maxStart)], size: len(raw)}.String()
}

// invisible escapes characters that a finding must show.
var invisible = strings.NewReplacer("\n", `\n`, "\r", `\r`, "\ufeff", `\ufeff`)

func (l line) String() string {
	text := invisible.Replace(strings.ToValidUTF8(strings.TrimRight(string(l.start), "\n"), "\ufffd"))
	text = candor.Public(strings.Replace(text, shownMeta, "{…}", 1), maxLine)
	if l.size > len(l.start) {
		text += fmt.Sprintf(" (%d bytes)", l.size)
	}
	return text
}

// shownMeta is the _meta of every request of the newer era.
var shownMeta = strings.TrimSuffix(strings.TrimPrefix(string(mcpclient.AddMeta(nil, clientName)), `{"_meta":`), "}")
