package report

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// column is a column of the table. A flexible column gets narrower on a narrow page, and its cells are wrapped.
type column struct {
	head    string
	right   bool
	least   int // minimum width of a flexible column; 0 is not flexible
	cell    func(*row) string
	painted func(*row, string) string // nil is unchanged
}

// table writes the inventory, with a column for each pattern if the page is wide enough, else one for all patterns.
func (p *textPage) table(rows []row) {
	if len(rows) == 0 {
		p.section("No case was run")
		return
	}
	p.section("How each tool fails")
	columns := p.columns(rows, true)
	widths, fits := p.widths(columns, rows)
	if !fits {
		columns = p.columns(rows, false)
		widths, _ = p.widths(columns, rows)
	}
	var heads []string
	for _, c := range columns {
		heads = append(heads, c.head)
	}
	p.line(columns, widths, heads, func(_ int, s string) string { return p.dim(s) })
	for i := range rows {
		var cells []string
		for _, c := range columns {
			cells = append(cells, c.cell(&rows[i]))
		}
		p.line(columns, widths, cells, func(n int, s string) string {
			if columns[n].painted == nil {
				return s
			}
			return columns[n].painted(&rows[i], s)
		})
	}
}

func (p *textPage) columns(rows []row, matrix bool) []column {
	out := []column{
		{head: "tool", least: 16, cell: func(r *row) string { return shorten(r.Label, 60) }},
		{head: "g", cell: func(r *row) string { return string(r.Grade) }, painted: func(r *row, s string) string { return p.grade(r.Grade, s) }},
	}
	if matrix {
		out = append(out, column{head: "style", cell: func(r *row) string { return r.Style }})
		for _, i := range used(rows) {
			out = append(out, column{head: patterns[i].Short, right: true, cell: func(r *row) string { return count(r.Counts[i]) }})
		}
	} else {
		out = append(out, column{head: "patterns", least: 16, cell: styleAndPatterns})
	}
	return append(out,
		column{head: "codes", least: 7, cell: func(r *row) string { return r.Kinds }},
		column{head: "retry", cell: func(r *row) string { return shorten(r.Retry, 9) }},
		column{head: "field", cell: func(r *row) string { return shorten(r.Field, 9) }},
		column{head: "leaks", right: true, cell: func(r *row) string { return count(r.Leaks) }},
		column{head: "finds", right: true, cell: func(r *row) string { return count(r.Findings) }},
	)
}

// styleAndPatterns returns style and patterns in one cell, without the style if it only repeats the pattern.
func styleAndPatterns(r *row) string {
	if r.Style == "both" {
		return "both: " + r.breakdown()
	}
	return r.breakdown()
}

// count returns a number, or a dot for 0, which is easier to read in a sparse table.
func count(n int) string {
	if n == 0 {
		return "·"
	}
	return strconv.Itoa(n)
}

// gap is the space between columns.
const gap = 2

// widths fits the columns into the page and reports whether they fit. A flexible column is at most 40 wide, and the one with the most spare
// space shrinks first.
func (p *textPage) widths(columns []column, rows []row) (widths []int, fits bool) {
	widths = make([]int, len(columns))
	total := 2 - gap // the margin
	for i, c := range columns {
		widths[i] = utf8.RuneCountInString(c.head)
		for n := range rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(c.cell(&rows[n])))
		}
		if c.least > 0 {
			widths[i] = min(widths[i], 40)
		}
		total += widths[i] + gap
	}
	for ; total > textWidth; total-- {
		widest := -1
		for i, c := range columns {
			if c.least > 0 && widths[i] > c.least && (widest < 0 || widths[i]-c.least > widths[widest]-columns[widest].least) {
				widest = i
			}
		}
		if widest < 0 {
			return widths, false
		}
		widths[widest]--
	}
	return widths, true
}

// line writes one row, on as many lines as its tallest cell needs.
func (p *textPage) line(columns []column, widths []int, cells []string, paint func(int, string) string) {
	wrapped := make([][]string, len(cells))
	height := 1
	for i, c := range cells {
		wrapped[i] = []string{c}
		if columns[i].least > 0 {
			wrapped[i] = wrap(c, widths[i])
		}
		height = max(height, len(wrapped[i]))
	}
	for y := range height {
		var b strings.Builder
		for x := range cells {
			text := ""
			if y < len(wrapped[x]) {
				text = wrapped[x][y]
			}
			space := strings.Repeat(" ", max(widths[x]-utf8.RuneCountInString(text), 0))
			if x > 0 {
				b.WriteString(strings.Repeat(" ", gap))
			}
			if columns[x].right {
				b.WriteString(space + paint(x, text))
			} else {
				b.WriteString(paint(x, text) + space)
			}
		}
		p.WriteString("  " + strings.TrimRight(b.String(), " ") + "\n")
	}
}
