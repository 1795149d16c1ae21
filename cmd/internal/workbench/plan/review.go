package plan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxColumns limits a line of a review: if a terminal wrapped a line, its remainder could look like a line of the review.
const maxColumns = 78

// Review writes a proposed plan for its approver: title, hash, scopes and the whole text. It ends by
// repeating the hash, because a long plan scrolls the beginning off the screen.
//
// All text of a plan is made visible: control characters, direction marks and other hidden characters are written as code
// points, and lines are broken so that each part has a prefix. If Review returns an error, the output is incomplete and
// the person must not be asked to approve.
func Review(w io.Writer, s Stored) error {
	if s.Plan == nil {
		return errors.New("reviewing plan: no plan")
	}
	var out bytes.Buffer
	field := func(name, value string) { put(&out, fmt.Sprintf("%-8s", name), "       | ", value) }
	field("Plan", s.Plan.Title)
	field("Hash", s.Hash)
	if s.Plan.Phase != "" {
		field("Phase", s.Plan.Phase)
	}
	if s.Approved() {
		field("Status", "approved by "+s.Approval.By)
	} else {
		field("Status", "proposed")
	}
	for _, g := range s.Plan.globs {
		spelt := ""
		if strings.ContainsFunc(g.written, func(c rune) bool { return c >= utf8.RuneSelf }) { // some letters look alike
			spelt = ", spelt " + strconv.QuoteToASCII(g.written)
		}
		field("Scope", fmt.Sprintf("%q%s", g.written, spelt))
	}
	out.WriteByte('\n')
	for line := range bytes.Lines(s.Body) {
		put(&out, "+", "+  … ", strings.TrimSuffix(string(line), "\n"))
	}
	out.WriteByte('\n')
	field("Decide", s.Hash)
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("reviewing a plan: %w", err)
	}
	return nil
}

// put writes a text after the prefix first; continuation lines get the prefix next.
func put(out *bytes.Buffer, first, next, text string) {
	out.WriteString(first)
	column := width(first)
	for _, r := range visible(text) {
		if column+width(string(r)) > maxColumns {
			out.WriteString("\n" + next)
			column = width(next)
		}
		column += width(string(r))
		out.WriteRune(r)
	}
	out.WriteByte('\n')
}
