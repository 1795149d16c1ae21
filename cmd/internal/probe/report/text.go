package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/candor-mcp/candor/internal/plural"
	"github.com/candor-mcp/candor/internal/probe"
)

// textPage writes a report for a terminal.
type textPage struct {
	strings.Builder
	sgr
}

// writeText writes the server, the table, the findings with evidence, and the next steps.
func writeText(w io.Writer, r *probe.Report, o Options) error {
	p := &textPage{sgr: sgr(o.Colour)}
	p.header(r)
	p.table(inventory(r))
	p.findings(r)
	p.raise(r.Raise)
	p.skips(r.Skipped)
	p.section("Next")
	for _, next := range nextCommands(r) {
		fmt.Fprintf(p, "  %s\n      %s\n", next[0], p.dim(next[1]))
	}
	_, err := io.WriteString(w, p.String())
	return err
}

func (p *textPage) header(r *probe.Report) {
	grade := gradeOf(r.Grade)
	name := strings.TrimSpace(plain(r.Server.Name) + " " + plain(r.Server.Version))
	mark := "grade " + string(grade)
	if r.GradeIncomplete != "" {
		mark += " (incomplete)"
	}
	fmt.Fprintf(p, "%s  %s\n", p.bold(shorten(name, textWidth-len(mark)-5)), p.grade(grade, mark))
	p.para(0, fmt.Sprintf("%s, protocol %s: %s", orDash(r.Server.Transport), orDash(r.Server.Protocol), orDash(r.Server.Target)))
	p.para(0, fmt.Sprintf("%s, %s, %s, %d of them masked. Dialect: %s. Rules: %s, seed %d.", plural.Of(len(r.Tools), "tool"),
		plural.Of(r.Cases, "case"), plural.Of(r.Failures, "failure"), r.Masked, cmp.Or(plain(r.Dialect), "none known"), orDash(r.Rules), r.Seed))
	if said := coverageText(r); said != "" {
		p.para(0, said)
	}
	p.para(0, "Findings: "+tallyText(r.Findings)+".")
	if r.Incomplete != "" {
		p.para(0, "INCOMPLETE: "+plain(r.Incomplete))
	}
}

func (p *textPage) section(title string) { fmt.Fprintf(p, "\n%s\n", p.bold(title)) }

// para writes [plain] text, wrapped and indented.
func (p *textPage) para(indent int, s string) {
	for _, line := range wrap(s, textWidth-indent) {
		fmt.Fprintf(p, "%s%s\n", strings.Repeat(" ", indent), line)
	}
}

// hang is para with a label before the first line.
func (p *textPage) hang(indent int, head, s string) {
	room := utf8.RuneCountInString(head) + 1
	for i, line := range wrap(s, textWidth-indent-room) {
		before := p.dim(head) + " "
		if i > 0 {
			before = strings.Repeat(" ", room)
		}
		fmt.Fprintf(p, "%s%s%s\n", strings.Repeat(" ", indent), before, line)
	}
}

func (p *textPage) findings(r *probe.Report) {
	p.section("Findings")
	if len(r.Findings) == 0 {
		p.para(2, "None.")
		return
	}
	for _, f := range probe.Sorted(r.Findings) {
		p.WriteString("\n")
		p.title(&f)
		p.para(4, plain(f.Message))
		for _, e := range f.Evidence[:min(len(f.Evidence), 1)] {
			p.hang(4, "case:", plain(e.Case))
			p.hang(4, "sent:", shorten(plain(e.Request), 2*textWidth))
			p.hang(4, "got: ", shorten(plain(cmp.Or(e.Response, noAnswer)), 3*textWidth))
		}
		if cases := howOften(&f); cases != "" {
			p.para(4, "("+cases+")")
		}
		fix := plain(f.Fix)
		if f.Outside {
			fix += " (candor wrap can fix this without a change to the server)"
		}
		p.hang(4, "fix: ", fix)
	}
}

// title returns the first line of a finding.
func (p *textPage) title(f *probe.Finding) {
	severity := p.severity(f.Severity, strings.ToUpper(shorten(plain(string(f.Severity)), 8)))
	fmt.Fprintf(p, "  %s %s %s\n", severity, p.bold(shorten(plain(f.Rule), 20)), shorten(place(f), textWidth-34))
}

func (p *textPage) raise(steps []string) {
	if len(steps) == 0 {
		return
	}
	p.section("How to raise the grade")
	for i, step := range steps {
		p.hang(2, fmt.Sprintf("%d.", i+1), plain(step))
	}
}

func (p *textPage) skips(skipped []probe.Skip) {
	if len(skipped) == 0 {
		return
	}
	p.section("Not done")
	for _, line := range skipLines(skipped) {
		p.hang(2, "-", line)
	}
}

// sgr colours text if it is on.
type sgr bool

func (c sgr) paint(code, s string) string {
	if !c || s == "" || code == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (c sgr) bold(s string) string { return c.paint("1", s) }
func (c sgr) dim(s string) string  { return c.paint("2", s) }

// The colours of a letter or word, which is always there.
var (
	gradeColours    = map[probe.Grade]string{probe.GradeA: "1;32", probe.GradeB: "1;32", probe.GradeC: "1;33", probe.GradeD: "1;31", probe.GradeF: "1;31"}
	severityColours = map[probe.Severity]string{probe.SeverityCritical: "1;31", probe.SeverityMajor: "33", probe.SeverityMinor: "36", probe.SeverityInfo: "2"}
)

func (c sgr) grade(g probe.Grade, s string) string       { return c.paint(gradeColours[g], s) }
func (c sgr) severity(v probe.Severity, s string) string { return c.paint(severityColours[v], s) }
