package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/probe"
)

// badgeLabel is the left part of a badge.
const badgeLabel = "candor probe"

// badgeColours has the colours of the page, on which white text has a contrast of at least 4.5.
var badgeColours = map[probe.Grade]string{
	probe.GradeA: "#2a7147", probe.GradeB: "#4b7327", probe.GradeC: "#87610a", probe.GradeD: "#a34a1a", probe.GradeF: "#a3282a",
}

// Badge is the content of a badge. As JSON it is the input of a shields.io endpoint badge.
type Badge struct {
	Version int    `json:"schemaVersion"` // 1
	Label   string `json:"label"`
	Message string `json:"message"`
	Colour  string `json:"color"`
}

// NewBadge returns the badge of a report. A grade that is incomplete is marked.
func NewBadge(r *probe.Report) Badge {
	b := Badge{Version: 1, Label: badgeLabel, Message: "no grade", Colour: "#5a626c"}
	grade := gradeOf(r.Grade)
	if colour, found := badgeColours[grade]; found {
		b.Message, b.Colour = "grade "+string(grade), colour
		if r.Incomplete != "" || r.GradeIncomplete != "" {
			b.Message += ", incomplete"
		}
	}
	return b
}

// writeBadge writes an SVG picture. It loads nothing, and its title is for screen readers. Only the title has text of the server.
func writeBadge(w io.Writer, r *probe.Report, _ Options) error {
	b := NewBadge(r)
	left, right := badgeWidth(b.Label), badgeWidth(b.Message)
	title := fmt.Sprintf("%s: %s", b.Label, b.Message)
	if r.Server.Name != "" {
		title = fmt.Sprintf("%s of %s: %s", b.Label, shorten(plain(ends(r.Server.Name)), 60), b.Message)
	}
	var name strings.Builder
	if err := xml.EscapeText(&name, []byte(title)); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="20" viewBox="0 0 %[1]d 20" role="img" aria-labelledby="candor-badge">
<title id="candor-badge">%[2]s</title>
<clipPath id="candor-badge-clip"><rect width="%[1]d" height="20" rx="3"/></clipPath>
<g clip-path="url(#candor-badge-clip)"><rect width="%[3]d" height="20" fill="#3b434c"/><rect x="%[3]d" width="%[4]d" height="20" fill="%[5]s"/></g>
<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11" aria-hidden="true">
<text x="%[6]d" y="14" textLength="%[7]d">%[8]s</text>
<text x="%[9]d" y="14" textLength="%[10]d">%[11]s</text>
</g>
</svg>
`, left+right, name.String(), left, right, b.Colour, left/2, left-badgeMargin, b.Label, left+right/2, right-badgeMargin, b.Message)
	return err
}

// badgeMargin is the space beside the text of a part, both sides together.
const badgeMargin = 10

// badgeWidth returns the width of a part. The texts of a badge need 6.2 pixels for a letter in Verdana; textLength makes any font fit.
func badgeWidth(text string) int { return len(text)*31/5 + badgeMargin }
