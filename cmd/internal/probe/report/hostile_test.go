package report_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/candor-mcp/candor/cmd/internal/probe/report"
	"github.com/candor-mcp/candor/internal/probe"
)

// hostile combines all kinds of hostile text.
const hostile = "\x1b[31m\x1b]0;t\x07\u202eR\u2066L\u200b\u00ad\ufeff\u2028\r\n# h\n| a | b |\n```\n~~~\n</td></details><script>x</script><!-- --> ]]> " +
	"`` ` [l](javascript:x) ![i](http://evil.example/i) <http://evil.example> www.evil.example @all #1 \\` $x$ &amp; {{.}} \x00\x7f\u009b2J\xff\xfe e\u0301\u0301\u0301\u0301\u0301 漢字"

// evilReport returns a report with hostile text in every field.
func evilReport() *probe.Report {
	evil := hostile
	return &probe.Report{
		Version: probe.ReportVersion, Rules: evil, Grade: probe.Grade(evil), Dialect: evil, Incomplete: evil, Cases: -1,
		Server:   probe.Server{Name: evil, Version: evil, Protocol: evil, Transport: evil, Target: evil, Capabilities: []string{evil}},
		Raise:    []string{evil},
		Skipped:  []probe.Skip{{Tool: evil, What: evil, Reason: evil}},
		Protocol: probe.ToolReport{Cases: 1, Grade: probe.Grade(evil), Skipped: evil},
		Tools: []probe.ToolReport{{
			Tool: evil, Grade: probe.Grade(evil), Patterns: map[probe.Pattern]int{probe.Pattern(evil): 1, probe.PatternA: -7, probe.PatternB: 2}, Kinds: []string{evil},
			Codes: []string{evil}, Retry: evil, Field: evil, Raise: []string{evil}, Skipped: evil,
		}},
		Applied: []probe.Rule{{ID: evil, Title: evil, Reason: evil, Clause: evil, Fix: evil, Severity: probe.Severity(evil), Sets: []string{evil, evil}}},
		Findings: []probe.Finding{
			{Rule: evil, Severity: probe.Severity(evil), Tool: evil, Field: evil, Message: evil, Fix: evil, Evidence: []probe.Evidence{{Case: evil, Request: evil, Response: evil}}},
			{Rule: "EC999", Severity: probe.SeverityMajor, Tool: "a tool that is not listed", Message: evil},
		},
	}
}

// reports returns the reports that every format must handle.
func reports(t *testing.T) map[string]*probe.Report {
	t.Helper()
	return map[string]*probe.Report{
		"sample": sample(t),
		"evil":   evilReport(),
		"empty":  {Version: probe.ReportVersion},
		"large":  largeReport(),
	}
}

// largeReport returns the report of a server with many tools, long names and long answers.
func largeReport() *probe.Report {
	r := &probe.Report{Version: probe.ReportVersion, Begun: time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("x", 3600)), Grade: probe.GradeF}
	for i := range 60 {
		name := strings.Repeat("long_name_", 20) + strconv.Itoa(i/2) // each tool is listed twice
		r.Tools = append(r.Tools, probe.ToolReport{Tool: name, Grade: probe.GradeF, Patterns: map[probe.Pattern]int{probe.PatternText: 1 << 40}})
		r.Findings = append(r.Findings, probe.Finding{
			Rule: "EC001", Severity: probe.SeverityCritical, Tool: name, Message: strings.Repeat("m", 1000), Count: 1 << 40,
			Evidence: []probe.Evidence{{Response: strings.Repeat("x", 30_000/(i+1))}},
		})
	}
	return r
}

// TestFormatsEscapeControlAndBidi checks that no format outputs control or invisible characters.
func TestFormatsEscapeControlAndBidi(t *testing.T) {
	for _, format := range report.Formats() {
		out := write(t, format, evilReport(), report.Options{})
		if !utf8.ValidString(out) {
			t.Errorf("%s is not UTF-8", format)
		}
		for i, r := range out {
			if !unicode.IsPrint(r) && r != '\n' && r != '\t' {
				t.Errorf("%s: %U at %d: %q", format, r, i, out[max(0, i-20):i+8])
				break
			}
		}
	}
}

func TestTextKeepsToItsWidth(t *testing.T) {
	for name, r := range reports(t) {
		for line := range strings.Lines(write(t, report.FormatText, r, report.Options{})) {
			if utf8.RuneCountInString(strings.TrimRight(line, "\n")) > 100 {
				t.Errorf("%s: %q", name, cut(line))
			}
		}
	}
}

// cut truncates a text for an error message.
func cut(s string) string { return s[:min(len(s), 200)] }

func TestReportIsDeterministic(t *testing.T) {
	for name, r := range reports(t) {
		before, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range report.Formats() {
			first := write(t, format, r, report.Options{})
			for range 2 {
				if write(t, format, r, report.Options{}) != first {
					t.Errorf("%s as %s differs from time to time", name, format)
				}
			}
		}
		if after, err := json.Marshal(r); err != nil || string(before) != string(after) {
			t.Errorf("%s was changed by writing it", name)
		}
	}
}
