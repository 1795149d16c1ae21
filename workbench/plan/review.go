package plan

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"
)

// Bounds of a review.
const (
	maxShownLine = 400    // characters of one line
	maxCounted   = 20_000 // existing files that are compared with the scopes
)

// The colours of a review, as a terminal is told them.
const (
	red     = "\x1b[31m"
	green   = "\x1b[32m"
	yellow  = "\x1b[33m"
	bold    = "\x1b[1m"
	reverse = "\x1b[7m"
	plain   = "\x1b[0m"
)

// Review shows a proposed plan to the person who is to approve it: title, hash, the scopes with how many of the existing files each one
// matches, the warnings, and how the plan differs from the previous one, which is the whole plan if previous is nil. It ends with the
// hash and the number of warnings once more, because a long plan scrolls the beginning away.
//
// Nothing in a plan reaches the terminal as anything but visible text: control characters, marks of direction and what else hides are
// written out, and long lines are cut with a mark that says so. If Review returns an error the person has not seen everything, and must not
// be asked.
func Review(w io.Writer, previous *Stored, proposed Stored, files []string, colour bool) error {
	if proposed.Plan == nil {
		return fmt.Errorf("reviewing a plan: there is none")
	}
	r := &review{colour: colour}
	r.head(proposed)
	r.scopes(proposed.Plan, files)
	r.warnings(proposed.Warnings)
	r.changes(previous, proposed)
	r.foot(proposed)
	if _, err := w.Write(r.out.Bytes()); err != nil {
		return fmt.Errorf("reviewing a plan: %w", err)
	}
	return nil
}

// review is a page in the making.
type review struct {
	out     bytes.Buffer
	colour  bool
	cut     int // lines that were not shown whole
	written int // characters that were written out
}

func (r *review) head(s Stored) {
	r.field("Plan", r.safe(s.Plan.Title))
	r.field("Hash", s.Hash)
	if s.Plan.Phase != "" {
		r.field("Phase", s.Plan.Phase)
	}
	status := "proposed"
	if s.Approved() {
		status = "approved by " + r.safe(s.Approval.By)
	}
	r.field("Status", status)
}

func (r *review) field(name, value string) {
	fmt.Fprintf(&r.out, "%s %s\n", r.paint(bold, fmt.Sprintf("%-7s", name)), value)
}

// scopes tells how far each scope reaches. A glob with letters beyond ASCII is spelt out beside itself: some of them look like others.
func (r *review) scopes(p *Plan, files []string) {
	more := ""
	if len(files) > maxCounted {
		files, more = files[:maxCounted], "at least "
	}
	counts := make([]int, len(p.globs))
	covered := 0
	for _, file := range files {
		one := &Plan{globs: make([]glob, 1)}
		any := false
		for i, g := range p.globs {
			one.globs[0] = g
			if one.Covers(file) {
				counts[i]++
				any = true
			}
		}
		if any {
			covered++
		}
	}
	r.field("Scope", fmt.Sprintf("%s%s covered", more, number(covered, "existing file")))
	for i, g := range p.globs {
		spelt := ""
		if strings.ContainsFunc(g.written, func(c rune) bool { return c >= utf8.RuneSelf }) {
			spelt = "  " + r.paint(yellow, "spelt "+strconv.QuoteToASCII(g.written))
		}
		fmt.Fprintf(&r.out, "  %s  (%s%s)%s\n", r.safe(g.written), more, number(counts[i], "file"), spelt)
	}
}

func (r *review) warnings(issues []Issue) {
	for _, i := range issues {
		fmt.Fprintf(&r.out, "%s line %d: %s; %s\n", r.paint(yellow, "Warning"), i.Line, r.safe(i.Message), r.safe(i.Hint))
	}
}

// changes shows the difference line by line. Each line of a plan stands behind a sign, so that none can pass for a line of ours.
func (r *review) changes(previous *Stored, proposed Stored) {
	r.out.WriteByte('\n')
	if previous == nil {
		fmt.Fprintln(&r.out, "No plan was approved before in this workspace; this is the whole plan.")
		for line := range bytes.Lines(proposed.Body) {
			r.line("+" + string(line))
		}
		return
	}
	text := diff.Diff("approved "+previous.Hash[:12], previous.Body, "proposed "+proposed.Hash[:12], proposed.Body)
	if text == nil {
		fmt.Fprintln(&r.out, "The plan is the one that was approved last.")
		return
	}
	_, text, _ = bytes.Cut(text, []byte("\n")) // the first line repeats the next two
	for line := range bytes.Lines(text) {
		r.line(string(line))
	}
}

// line writes one line of a diff, signed.
func (r *review) line(s string) {
	s = strings.TrimSuffix(s, "\n")
	colour := ""
	switch s[:min(len(s), 1)] {
	case "+":
		colour = green
	case "-":
		colour = red
	case "@":
		colour = bold
	}
	rest := ""
	if n := utf8.RuneCountInString(s); n > maxShownLine {
		short := string([]rune(s)[:maxShownLine])
		rest = r.paint(reverse, fmt.Sprintf("… %d more characters", n-maxShownLine))
		s = short
		r.cut++
	}
	// The colour goes around the pieces between written-out characters, which have one of their own.
	fmt.Fprintln(&r.out, r.paint(colour, visible(s, func(name string) string {
		r.written++
		if !r.colour {
			return name
		}
		return plain + reverse + name + plain + colour
	}))+rest)
}

func (r *review) foot(s Stored) {
	r.out.WriteByte('\n')
	if r.cut > 0 {
		fmt.Fprintf(&r.out, "%s %s shown in part; read the file itself before you approve it.\n", r.paint(yellow, "Warning"), number(r.cut, "line"))
	}
	if r.written > 0 {
		fmt.Fprintf(&r.out, "%s %s written out as <U+…>, because a terminal would hide or obey them.\n",
			r.paint(yellow, "Warning"), number(r.written, "character"))
	}
	fmt.Fprintf(&r.out, "%s %s, %s, %s\n", r.paint(bold, "To approve:"), s.Hash, number(len(s.Plan.Scope), "scope"), number(len(s.Warnings), "warning"))
}

// safe is a text of the plan for a line of ours.
func (r *review) safe(s string) string {
	return visible(s, func(name string) string {
		r.written++
		return r.paint(reverse, name)
	})
}

func (r *review) paint(colour, s string) string {
	if !r.colour || colour == "" {
		return s
	}
	return colour + s + plain
}

func number(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
