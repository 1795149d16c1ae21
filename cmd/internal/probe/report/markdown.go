package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/candor-mcp/candor/internal/plural"
	"github.com/candor-mcp/candor/internal/probe"
)

// mdPage is a report or a comparison being written for a pull request.
//
// Texts of a server are written only with [mdText], [mdCode] and [mdFence], which escape them.
type mdPage struct{ strings.Builder }

// A comment on a pull request has at most 65,536 characters, so evidence is short, and left out once the page is half full. Findings that do
// not fit are counted.
const (
	mdEvidence     = 1
	mdEvidenceSize = 2000
	mdHalf, mdFull = 30_000, 55_000
)

func writeMarkdown(w io.Writer, r *probe.Report, _ Options) error {
	p := &mdPage{}
	grade := string(gradeOf(r.Grade))
	if r.GradeIncomplete != "" {
		grade += " (incomplete)"
	}
	fmt.Fprintf(p, "## %s: grade %s\n\n", mdText(strings.TrimSpace(r.Server.Name+" "+r.Server.Version)), grade)
	fmt.Fprintf(p, "%s, %s, %s, **%d masked**. Findings: %s.\n", plural.Of(len(r.Tools), "tool"), plural.Of(r.Cases, "case"),
		plural.Of(r.Failures, "failure"), r.Masked, tallyText(r.Findings))
	fmt.Fprintf(p, "Target %s over %s, protocol %s, rules %s, seed %d.\n", mdCode(r.Server.Target), mdText(orDash(r.Server.Transport)),
		mdText(orDash(r.Server.Protocol)), mdText(orDash(r.Rules)), r.Seed)
	if said := coverageText(r); said != "" {
		fmt.Fprintf(p, "%s\n", mdText(said))
	}
	if r.Incomplete != "" {
		fmt.Fprintf(p, "\n> **Incomplete:** %s\n", mdText(r.Incomplete))
	}
	p.inventory(inventory(r))
	p.findings(r)
	p.list("How to raise the grade", "1.", r.Raise)
	p.list("Not done", "-", skipLines(r.Skipped))
	_, err := io.WriteString(w, p.String())
	return err
}

func (p *mdPage) inventory(rows []row) {
	if len(rows) == 0 {
		return
	}
	columns := used(rows)
	p.WriteString("\n### How each tool fails\n\n| tool | grade | style |")
	rule := "|---|:-:|---|"
	for _, i := range columns {
		fmt.Fprintf(p, " %s |", patterns[i].Short)
		rule += "--:|"
	}
	p.WriteString(" codes | retry | field | leaks | findings |\n" + rule + "---|---|---|--:|--:|\n")
	for _, r := range rows {
		fmt.Fprintf(p, "| %s | **%s** | %s |", mdCell(mdCode(r.Label)), r.Grade, r.Style)
		for _, i := range columns {
			fmt.Fprintf(p, " %s |", count(r.Counts[i]))
		}
		fmt.Fprintf(p, " %s | %s | %s | %s | %s |\n", mdText(r.Kinds), mdText(r.Retry), mdText(r.Field), count(r.Leaks), count(r.Findings))
	}
	p.WriteString("\n")
	for n, i := range columns {
		if n > 0 {
			p.WriteString("; ")
		}
		fmt.Fprintf(p, "*%s*: %s", patterns[i].Short, mdText(patterns[i].About))
	}
	p.WriteString(".\n")
}

func (p *mdPage) findings(r *probe.Report) {
	p.WriteString("\n### Findings\n")
	if len(r.Findings) == 0 {
		p.WriteString("\nNone.\n")
	}
	for i, f := range probe.Sorted(r.Findings) {
		if p.Len() > mdFull {
			fmt.Fprintf(p, "\n%s more: see the report as a page or as JSON.\n", plural.Of(len(r.Findings)-i, "finding"))
			break
		}
		p.finding(&f)
		if p.Len() > mdHalf {
			continue
		}
		for _, e := range f.Evidence[:min(len(f.Evidence), mdEvidence)] {
			fmt.Fprintf(p, "\n<details><summary>Evidence: %s</summary>\n\n", plural.Of(max(f.Count, 1), "case"))
			p.WriteString(mdFence(bounded("case "+plain(e.Case)+"\nsent "+plain(e.Request)+"\ngot  "+cmp.Or(e.Response, noAnswer), mdEvidenceSize)))
			p.WriteString("\n</details>\n")
		}
	}
}

// finding writes a finding without its evidence.
func (p *mdPage) finding(f *probe.Finding) {
	where := "the server"
	switch {
	case len(f.Tools) > 0:
		where = plural.Of(len(f.Tools), "tool")
	case f.Tool != "":
		where = mdCode(f.Tool)
	}
	if f.Field != "" {
		where += " " + mdCode(f.Field)
	}
	fmt.Fprintf(p, "\n**%s** %s, %s: %s  \nFix: %s", mdText(string(f.Severity)), mdText(f.Rule), where, mdText(f.Message), mdText(f.Fix))
	if f.Outside {
		p.WriteString(" *(`candor wrap` can fix this.)*")
	}
	p.WriteString("\n")
}

func (p *mdPage) list(title, mark string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(p, "\n### %s\n\n", title)
	for _, line := range lines {
		fmt.Fprintf(p, "%s %s\n", mark, mdText(line))
	}
}

// mdMarks are the characters with a meaning within a line of GitHub Markdown. Those that matter only at the start of a line are left out,
// because no text is written there.
const mdMarks = "\\`*_[]<>|~&$"

// mdText escapes one line of text: no markup, cell borders, links, mentions or issue references.
//
// GitHub finds mentions and references in the rendered text, so an empty comment is put between the mark and the name.
func mdText(s string) string {
	var b strings.Builder
	for _, r := range plain(s) {
		switch {
		case strings.ContainsRune(mdMarks, r):
			b.WriteRune('\\')
			b.WriteRune(r)
		case r == '@' || r == '#':
			b.WriteRune(r)
			b.WriteString("<!-- -->")
		default:
			b.WriteRune(r)
		}
	}
	return unlink.Replace(b.String())
}

// unlink escapes texts that become links without markup, such as "www." in any case.
var unlink = strings.NewReplacer("://", `\://`, "www.", `www\.`, "WWW.", `WWW\.`, "Www.", `Www\.`)

// mdCode returns a code span with more backticks than any run of backticks inside.
func mdCode(s string) string {
	s = plain(s)
	if strings.TrimSpace(s) == "" {
		return "–"
	}
	ticks := strings.Repeat("`", longestRun(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return ticks + s + ticks
}

// mdCell escapes a span for a table, where a bar ends the cell even inside of code.
func mdCell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// mdFence returns a fenced code block with more backticks than any run of backticks inside.
func mdFence(s string) string {
	fence := strings.Repeat("`", max(longestRun(s)+1, 3))
	return fence + "text\n" + strings.TrimRight(s, "\n") + "\n" + fence + "\n"
}

func longestRun(s string) int {
	longest, run := 0, 0
	for _, r := range s {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
