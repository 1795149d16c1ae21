package plan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"
)

// Limits of a review.
const (
	maxColumns   = 78         // of a line; if a terminal wrapped a line, its remainder could look like a line of the review
	maxShownLine = 400        // characters of one line of a plan
	maxCompared  = 20_000_000 // existing files times alternatives of the scopes
)

// Terminal colours of a review.
const (
	red     = "\x1b[31m"
	green   = "\x1b[32m"
	yellow  = "\x1b[33m"
	bold    = "\x1b[1m"
	reverse = "\x1b[7m"
	plain   = "\x1b[0m"
)

// Review writes a proposed plan for the person who is to approve it: title, hash, the scopes with the number of existing
// files that each matches, the warnings, and the difference to the previous plan, or the whole plan if previous is nil.
// It ends by repeating the hash and the number of warnings, because a long plan scrolls the beginning off the screen.
//
// All text of a plan is made visible: control characters, direction marks and other hidden characters are written as code
// points, lines are broken so that each part has a prefix, and long lines are cut with a mark. If Review returns an error,
// the output is incomplete and the person must not be asked to approve.
//
// files are the files of the workspace; more means that the list is incomplete, so each count is a lower bound.
func Review(w io.Writer, previous *Stored, proposed Stored, files []string, more, colour bool) error {
	if proposed.Plan == nil {
		return errors.New("reviewing plan: no plan")
	}
	r := &review{colour: colour}
	r.head(proposed)
	r.scopes(proposed.Plan, files, more)
	for _, i := range proposed.Warnings {
		r.warn(fmt.Sprintf("line %d: %s; %s", i.Line, i.Message, i.Hint))
	}
	r.changes(previous, proposed)
	r.foot(proposed)
	if _, err := w.Write(r.out.Bytes()); err != nil {
		return fmt.Errorf("reviewing a plan: %w", err)
	}
	return nil
}

// review is the output of Review.
type review struct {
	out    bytes.Buffer
	colour bool
	cut    int // lines that were cut
	named  int // characters that were written as code points
	ink    string
}

func (r *review) head(s Stored) {
	r.field("Plan", s.Plan.Title)
	r.field("Hash", s.Hash)
	if s.Plan.Phase != "" {
		r.field("Phase", s.Plan.Phase)
	}
	status := "proposed"
	if s.Approved() {
		status = "approved by " + s.Approval.By
	}
	r.field("Status", status)
}

func (r *review) field(name, value string) {
	r.put(fmt.Sprintf("%-8s", name), "       | ", bold, "", value)
}

func (r *review) warn(text string) { r.put("Warning ", "       | ", yellow, "", text) }

// scopes shows the number of files that each scope covers. A glob with non-ASCII letters is also shown escaped, because
// some letters look alike.
func (r *review) scopes(p *Plan, files []string, more bool) {
	ways, least := 1, ""
	for _, g := range p.globs {
		ways += len(g.ways)
	}
	if most := maxCompared / ways; len(files) > most {
		files, more = files[:most], true
	}
	if more {
		least = "at least "
	}
	counts, covered := countCovered(p.globs, files)
	r.field("Scope", least+number(covered, "existing file")+" covered")
	for i, g := range p.globs {
		spelt := ""
		if strings.ContainsFunc(g.written, func(c rune) bool { return c >= utf8.RuneSelf }) {
			spelt = ", spelt " + strconv.QuoteToASCII(g.written)
		}
		r.put("  - ", "       | ", "", "", fmt.Sprintf("%q (%s%s%s)", g.written, least, number(counts[i], "file"), spelt))
	}
}

// countCovered returns the number of files that each glob covers, and the number that at least one covers.
func countCovered(globs []glob, files []string) (each []int, covered int) {
	each = make([]int, len(globs))
	for _, file := range files {
		segments, ok := coverable(file)
		if !ok {
			continue
		}
		hit := false
		for i, g := range globs {
			if g.covers(segments) {
				each[i]++
				hit = true
			}
		}
		if hit {
			covered++
		}
	}
	return each, covered
}

// changes shows the difference line by line. Each line has a prefix, so that it cannot look like a line of the review.
func (r *review) changes(previous *Stored, proposed Stored) {
	r.out.WriteByte('\n')
	if previous == nil {
		fmt.Fprintln(&r.out, "No other approved plan was found in this workspace; this is the whole plan.")
		for line := range bytes.Lines(proposed.Body) {
			r.line("+" + string(line))
		}
		return
	}
	text := diff.Diff("approved "+previous.Hash, previous.Body, "proposed "+proposed.Hash, proposed.Body)
	if text == nil {
		fmt.Fprintln(&r.out, "The plan is the one that was approved last.")
		return
	}
	_, text, _ = bytes.Cut(text, []byte("\n")) // the first line only repeats the next two
	for line := range bytes.Lines(text) {
		r.line(string(line))
	}
}

// line writes one line of a diff, including its sign.
func (r *review) line(s string) {
	s = strings.TrimSuffix(s, "\n")
	sign := s[:min(len(s), 1)]
	colour := map[string]string{"+": green, "-": red, "@": bold}[sign]
	if n := utf8.RuneCountInString(s); n > maxShownLine {
		r.cut++
		s = string([]rune(s)[:maxShownLine]) + fmt.Sprintf(" … %d more characters", n-maxShownLine)
	}
	r.put(sign, sign+"  … ", colour, colour, strings.TrimPrefix(s, sign))
}

func (r *review) foot(s Stored) {
	r.out.WriteByte('\n')
	if r.cut > 0 {
		r.warn("shown in part: " + number(r.cut, "line") + "; read the file itself before you approve it")
	}
	if r.named > 0 {
		r.warn("written out as <U+…>, because a terminal would hide or obey them: " + number(r.named, "character"))
	}
	r.field("Decide", s.Hash)
	r.field("", number(len(s.Plan.Scope), "scope")+", "+number(len(s.Warnings), "warning"))
}

// put writes a text after the prefix first; continuation lines get the prefix next. All text of a plan is written
// through put.
func (r *review) put(first, next, signColour, colour, s string) {
	r.write(signColour, first)
	column := width(first)
	for shown, named := range visible(s) {
		if column+width(shown) > maxColumns {
			r.write("", "\n")
			r.write(signColour, next)
			column = width(next)
		}
		column += width(shown)
		if named {
			r.named++
			r.write(reverse, shown)
		} else {
			r.write(colour, shown)
		}
	}
	r.write("", "\n")
}

// write writes s and emits a colour code only if the colour changes.
func (r *review) write(colour, s string) {
	if r.colour && colour != r.ink {
		if r.ink != "" {
			r.out.WriteString(plain)
		}
		r.out.WriteString(colour)
		r.ink = colour
	}
	r.out.WriteString(s)
}

func number(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
