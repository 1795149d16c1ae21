package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/probe"
)

// DeltaFormats returns the names of the formats that [WriteDelta] knows. The caller owns the slice.
func DeltaFormats() []string { return []string{FormatText, FormatJSON, FormatMarkdown} }

// WriteDelta writes a comparison in one of [DeltaFormats]: what got worse first, then what got better.
func WriteDelta(w io.Writer, format string, d *Delta, o Options) error {
	if d == nil {
		return fmt.Errorf("writing a comparison: there is none")
	}
	var err error
	switch format {
	case FormatText:
		_, err = io.WriteString(w, d.text(o))
	case FormatJSON:
		err = encode(w, d)
	case FormatMarkdown:
		_, err = io.WriteString(w, d.markdown())
	default:
		return unknownFormat(format, DeltaFormats())
	}
	if err != nil {
		return fmt.Errorf("writing a comparison as %s: %w", format, err)
	}
	return nil
}

// verdict is the comparison in one sentence.
func (d *Delta) verdict() string {
	was, is := gradeOf(d.Before.Grade), gradeOf(d.After.Grade)
	grade := fmt.Sprintf("grade %s, as before", is)
	if was != is {
		grade = fmt.Sprintf("grade %s → %s", was, is)
	}
	verdict := "Nothing changed"
	switch {
	case d.Worse():
		verdict = "Worse"
	case d.Better():
		verdict = "Better"
	case len(d.New)+len(d.Added) > 0:
		verdict = "No worse"
	}
	return fmt.Sprintf("%s: %s; %d new, %d gone, %d the same", verdict, grade, len(d.New), len(d.Gone), d.Same)
}

// part is a list of the comparison, for either form.
type part struct {
	title    string
	lines    []string
	findings []probe.Finding
}

// parts is what is written, in order; those with nothing in them are left out.
func (d *Delta) parts() []part {
	all := []part{
		{title: "May not be comparable", lines: d.Notes},
		{title: "Grades that fell", lines: steps(d.Fell)},
		{title: "Tools that are gone", lines: d.Lost},
		{title: "New findings", findings: d.New},
		{title: "Findings that weigh more", lines: shifts(d.Harder)},
		{title: "Grades that rose", lines: steps(d.Rose)},
		{title: "Findings that are gone", findings: d.Gone},
		{title: "Findings that weigh less", lines: shifts(d.Softer)},
		{title: "New tools", lines: d.Added},
	}
	return slices.DeleteFunc(all, func(p part) bool { return len(p.lines)+len(p.findings) == 0 })
}

func steps(changed []Step) []string {
	var out []string
	for _, s := range changed {
		name := s.Tool
		if name == "" {
			name = "the server"
		}
		out = append(out, fmt.Sprintf("%s: %s → %s", name, s.Before, s.After))
	}
	return out
}

func shifts(changed []Shift) []string {
	var out []string
	for _, s := range changed {
		out = append(out, fmt.Sprintf("%s, %s: %s → %s. %s", s.Finding.Rule, place(&s.Finding), s.Before, s.Finding.Severity, s.Finding.Message))
	}
	return out
}

func (d *Delta) text(o Options) string {
	p := &textPage{sgr: sgr(o.Colour), width: o.width()}
	name := strings.TrimSpace(plain(d.After.Server + " " + d.After.Version))
	fmt.Fprintf(p, "%s\n", p.bold(shorten(name, p.width)))
	colour := probe.GradeA
	if d.Worse() {
		colour = probe.GradeF
	}
	fmt.Fprintf(p, "%s\n", p.grade(colour, d.verdict()))
	for _, part := range d.parts() {
		p.section(part.title)
		for _, line := range part.lines {
			p.hang(2, "-", plain(line))
		}
		for _, f := range part.findings {
			p.title(&f)
			p.para(4, plain(f.Message))
		}
	}
	return p.String()
}

func (d *Delta) markdown() string {
	p := &mdPage{}
	fmt.Fprintf(p, "## %s: %s\n", mdText(strings.TrimSpace(d.After.Server+" "+d.After.Version)), mdText(d.verdict()))
	for _, part := range d.parts() {
		p.list(part.title, "-", part.lines)
		if len(part.findings) > 0 {
			fmt.Fprintf(p, "\n### %s\n", part.title)
		}
		for _, f := range part.findings {
			p.finding(&f)
		}
	}
	return p.String()
}
