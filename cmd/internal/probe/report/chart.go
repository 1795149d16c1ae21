package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/probe"
)

// bar is one bar of a chart, a thousand units wide.
type bar struct {
	Label  string
	Class  string
	Total  int
	Spoken string // text for screen readers
	Pieces []piece
}

// piece is a part of a bar.
type piece struct {
	Class, Title string
	X, Width     int
}

const barWidth = 1000

// add appends a piece of a bar whose full width is scale. Every piece is at least visible.
func (b *bar) add(class, title string, n, scale int) {
	if n <= 0 {
		return
	}
	x := 0
	if len(b.Pieces) > 0 {
		last := b.Pieces[len(b.Pieces)-1]
		x = last.X + last.Width
	}
	width := max(int(int64(n)*barWidth/int64(max(scale, 1))), 4)
	b.Pieces = append(b.Pieces, piece{Class: class, Title: title, X: x, Width: max(min(width, barWidth-x), 0)})
	b.Total += n
}

// maxBars is the maximum number of tools in the chart; the table shows all.
const maxBars = 40

// toolBars returns the bars of the patterns of each tool, and the number of tools that do not fit.
func toolBars(rows []row) (bars []bar, more int) {
	scale := 1
	for _, r := range rows {
		sum := 0
		for _, n := range r.Counts {
			sum += n
		}
		scale = max(scale, sum)
	}
	for _, r := range rows[:min(len(rows), maxBars)] {
		b := bar{Label: shorten(r.Label, 60)}
		var spoken []string
		for i, n := range r.Counts {
			if n > 0 {
				title := fmt.Sprintf("%d × %s: %s", n, patterns[i].Short, patterns[i].About)
				spoken = append(spoken, title)
				b.add("p-"+patterns[i].Short, title, n, scale)
			}
		}
		b.Spoken = r.Label + ": " + orDash(strings.Join(spoken, ", "))
		bars = append(bars, b)
	}
	return bars, len(rows) - len(bars)
}

// severityBars returns the bars of the findings of each severity.
func severityBars(findings []probe.Finding) []bar {
	counts := tally(findings)
	scale := max(1, slices.Max(counts))
	bars := make([]bar, 0, len(counts))
	for i, n := range counts {
		word := string(probe.Severities[i])
		b := bar{Label: word, Class: word, Spoken: fmt.Sprintf("%s: %s", word, plural(n, "finding"))}
		b.add("f-"+word, b.Spoken, n, scale)
		bars = append(bars, b)
	}
	return bars
}

// arc returns the part of the ring around a grade that is drawn, in percent.
func arc(g probe.Grade) int {
	if i := slices.Index(probe.Grades, g); i >= 0 {
		return 100 - i*20
	}
	return 0
}
