package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/candor-mcp/candor/cmd/internal/page"
	"github.com/candor-mcp/candor/internal/probe"
)

// The page is one file. Its content security policy forbids loading anything and allows only this style and this script, by their hashes.
var (
	//go:embed page/page.html
	pageHTML string
	//go:embed page/page.css
	ownCSS string
	//go:embed page/page.js
	pageJS string

	pageCSS      = page.CSS + ownCSS
	pageTemplate = sync.OnceValue(func() *template.Template {
		return template.Must(template.New("page").Parse(pageHTML + page.BarTemplate))
	})
	pagePolicy = fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; img-src data:; base-uri 'none'; form-action 'none'",
		page.SourceHash(pageCSS), page.SourceHash(pageJS))
)

// The limits of evidence on a page, so that browsers stay fast.
const (
	pageEvidence     = 5
	pageEvidenceSize = 20_000 // bytes
)

// reportPage is the data of the template. Its texts are [plain]; the template escapes them for HTML.
type reportPage struct {
	Policy string
	CSS    template.CSS
	JS     template.JS

	Name, Version, Target, Transport, Protocol, Dialect, Rules, Begun, Day, Incomplete, Coverage string

	Grade                          probe.Grade
	Arc                            int
	Seed                           uint64
	Tools, Cases, Failures, Masked int
	Severities, Bars               []page.Bar
	MoreBars                       int
	Patterns                       []patternView // shown in the table
	Honest, Dishonest              legend
	Grades                         []probe.Grade
	Rows                           []pageRow
	FindingTools                   []choice
	Findings                       []pageFinding
	Raise, Skipped                 []string
	Next                           [][2]string
	Applied                        []pageRule
}

// legend explains a group of patterns.
type legend struct {
	Title    string
	Patterns []patternView
}

type choice struct {
	Index int
	Label string
}

type pageRow struct {
	row
	Classes string // its patterns, for the filter
	Cells   []int  // counts of the patterns in the table
}

type pageFinding struct {
	Class, Severity, Rule, Place, Message, Reason, Fix string

	ToolIndex    int
	Often        string // see [howOften]
	Outside      bool
	Evidence     []probe.Evidence
	MoreEvidence int
}

type pageRule struct{ ID, Title, Reason, Clause, Class, Severity string }

// PagePolicy returns the content security policy of the page, for a server that sends it as a header too.
func PagePolicy() string { return pagePolicy }

func writeHTML(w io.Writer, r *probe.Report, _ Options) error {
	rows := inventory(r)
	p := reportPage{
		Policy: pagePolicy,
		CSS:    template.CSS(pageCSS), //nolint:gosec // a file of ours
		JS:     template.JS(pageJS),   //nolint:gosec // a file of ours
		Name:   orDash(r.Server.Name), Version: plain(r.Server.Version), Target: orDash(r.Server.Target), Transport: orDash(r.Server.Transport),
		Protocol: orDash(r.Server.Protocol), Dialect: cmp.Or(plain(r.Dialect), "unknown"), Rules: orDash(r.Rules), Seed: r.Seed,
		Begun: r.Begun.UTC().Format("2006-01-02T15:04:05Z"), Day: r.Begun.UTC().Format("2 January 2006, 15:04 UTC"), Incomplete: plain(r.Incomplete), Coverage: coverageText(r),
		Grade: gradeOf(r.Grade), Arc: arc(r.Grade), Tools: len(r.Tools), Cases: r.Cases, Failures: r.Failures, Masked: r.Masked,
		Severities: severityBars(r.Findings), Grades: probe.Grades, Next: nextCommands(r), Raise: plainAll(r.Raise), Skipped: skipLines(r.Skipped),
	}
	p.Bars, p.MoreBars = toolBars(rows)
	p.table(rows)
	p.findings(r)
	for _, rule := range r.Applied {
		p.Applied = append(p.Applied, pageRule{
			ID: plain(rule.ID), Title: plain(rule.Title), Reason: plain(rule.Reason), Clause: plain(rule.Clause),
			Class: severityClass(rule.Severity), Severity: plain(string(rule.Severity)),
		})
	}
	return pageTemplate().Execute(w, p)
}

func (p *reportPage) table(rows []row) {
	columns := used(rows)
	p.Honest.Title, p.Dishonest.Title = "Reported as a failure", "Reported as a success, or not reported"
	for _, i := range columns {
		p.Patterns = append(p.Patterns, patterns[i])
		kind := &p.Dishonest
		if patterns[i].Honest {
			kind = &p.Honest
		}
		kind.Patterns = append(kind.Patterns, patterns[i])
	}
	for _, r := range rows {
		out := pageRow{row: r}
		var classes []string
		for _, i := range columns {
			out.Cells = append(out.Cells, r.Counts[i])
			if r.Counts[i] > 0 {
				classes = append(classes, patterns[i].Short)
			}
		}
		out.Classes = strings.Join(classes, " ")
		p.Rows = append(p.Rows, out)
	}
}

// findings numbers the tools, so that the filter does not use names from the server.
func (p *reportPage) findings(r *probe.Report) {
	numbers := map[string]int{}
	known := rulesByID(r)
	for _, f := range probe.Sorted(r.Findings) {
		label := cmp.Or(plain(f.Tool), "the server")
		if len(f.Tools) > 0 {
			label = "several tools"
		}
		number, found := numbers[label]
		if !found {
			number = len(numbers)
			numbers[label] = number
			p.FindingTools = append(p.FindingTools, choice{number, shorten(label, 60)})
		}
		out := pageFinding{
			Class: severityClass(f.Severity), Severity: plain(string(f.Severity)), Rule: plain(f.Rule), Place: place(&f), Message: plain(f.Message),
			Fix: plain(f.Fix), ToolIndex: number, Often: howOften(&f), Outside: f.Outside,
		}
		if rule := known[f.Rule]; rule != nil {
			out.Reason = plain(rule.Reason)
		}
		for _, e := range f.Evidence[:min(len(f.Evidence), pageEvidence)] {
			out.Evidence = append(out.Evidence, probe.Evidence{Case: plain(e.Case), Request: bounded(e.Request, pageEvidenceSize), Response: bounded(e.Response, pageEvidenceSize)})
		}
		out.MoreEvidence = len(f.Evidence) - len(out.Evidence)
		p.Findings = append(p.Findings, out)
	}
}

// severityClass returns the CSS class of a severity; an unknown one is info.
func severityClass(s probe.Severity) string {
	if s.Rank() < len(probe.Severities) {
		return string(s)
	}
	return string(probe.SeverityInfo)
}
