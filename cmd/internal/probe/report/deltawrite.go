package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/internal/probe"
)

// DeltaFormats returns the names of the formats of [WriteDelta]. The caller owns the slice.
func DeltaFormats() []string { return []string{FormatText, FormatJSON, FormatMarkdown} }

// WriteDelta writes a comparison in one of [DeltaFormats], regressions first.
func WriteDelta(w io.Writer, format string, d *Delta, o Options) error {
	if d == nil {
		return fmt.Errorf("writing a comparison: nil comparison")
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

// verdict returns the comparison in one sentence.
func (d *Delta) verdict() string {
	was, is := gradeOf(d.Before.Grade), gradeOf(d.After.Grade)
	grade := fmt.Sprintf("grade %s, unchanged", is)
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
	return fmt.Sprintf("%s: %s; findings: %d new, %d fixed, %d unchanged", verdict, grade, len(d.New), len(d.Gone), d.Same)
}

// part is a section of the comparison, for both formats.
type part struct {
	title    string
	lines    []string
	findings []probe.Finding
}

// parts returns the sections in order, without empty ones.
func (d *Delta) parts() []part {
	all := []part{
		{title: "May not be comparable", lines: d.Notes},
		{title: "Lower grades", lines: steps(d.Fell)},
		{title: "Removed tools", lines: d.Lost},
		{title: "New findings", findings: d.New},
		{title: "More severe findings", lines: shifts(d.Harder)},
		{title: "Higher grades", lines: steps(d.Rose)},
		{title: "Fixed findings", findings: d.Gone},
		{title: "Less severe findings", lines: shifts(d.Softer)},
		{title: "New tools", lines: d.Added},
	}
	return slices.DeleteFunc(all, func(p part) bool { return len(p.lines)+len(p.findings) == 0 })
}

func steps(changed []Step) []string {
	var out []string
	for _, s := range changed {
		out = append(out, fmt.Sprintf("%s: %s → %s", cmp.Or(s.Tool, "the server"), s.Before, s.After))
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
	p := &textPage{sgr: sgr(o.Colour)}
	name := strings.TrimSpace(plain(d.After.Server + " " + d.After.Version))
	fmt.Fprintf(p, "%s\n", p.bold(shorten(name, textWidth)))
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
