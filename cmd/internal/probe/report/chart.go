package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/page"
	"github.com/candor-mcp/candor/internal/plural"
	"github.com/candor-mcp/candor/internal/probe"
)

// maxBars is the maximum number of tools in the chart; the table shows all.
const maxBars = 40

// toolBars returns the bars of the patterns of each tool, and the number of tools that do not fit.
func toolBars(rows []row) (bars []page.Bar, more int) {
	scale := 1
	for _, r := range rows {
		sum := 0
		for _, n := range r.Counts {
			sum += n
		}
		scale = max(scale, sum)
	}
	for _, r := range rows[:min(len(rows), maxBars)] {
		b := page.Bar{Label: shorten(r.Label, 60)}
		var spoken []string
		for i, n := range r.Counts {
			if n > 0 {
				title := fmt.Sprintf("%d × %s: %s", n, patterns[i].Short, patterns[i].About)
				spoken = append(spoken, title)
				b.Add("p-"+patterns[i].Short, title, n, scale)
			}
		}
		b.Spoken = r.Label + ": " + orDash(strings.Join(spoken, ", "))
		bars = append(bars, b)
	}
	return bars, len(rows) - len(bars)
}

// severityBars returns the bars of the findings of each severity.
func severityBars(findings []probe.Finding) []page.Bar {
	counts := tally(findings)
	scale := max(1, slices.Max(counts))
	bars := make([]page.Bar, 0, len(counts))
	for i, n := range counts {
		word := string(probe.Severities[i])
		b := page.Bar{Label: word, Class: word, Spoken: fmt.Sprintf("%s: %s", word, plural.Of(n, "finding"))}
		b.Add("f-"+word, b.Spoken, n, scale)
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
