package report

import "github.com/candor-mcp/candor/cmd/internal/probe"

// sgr colours text if it is on.
type sgr bool

func (c sgr) paint(code, s string) string {
	if !c || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (c sgr) bold(s string) string { return c.paint("1", s) }
func (c sgr) dim(s string) string  { return c.paint("2", s) }

// grade and severity add colour to a letter or word, which is always there.
func (c sgr) grade(g probe.Grade, s string) string {
	switch g {
	case probe.GradeA, probe.GradeB:
		return c.paint("1;32", s)
	case probe.GradeC:
		return c.paint("1;33", s)
	case probe.GradeD, probe.GradeF:
		return c.paint("1;31", s)
	}
	return s
}

func (c sgr) severity(v probe.Severity, s string) string {
	switch v {
	case probe.SeverityCritical:
		return c.paint("1;31", s)
	case probe.SeverityMajor:
		return c.paint("33", s)
	case probe.SeverityMinor:
		return c.paint("36", s)
	case probe.SeverityInfo:
		return c.dim(s)
	}
	return s
}
