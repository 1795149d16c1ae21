package report

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/internal/probe"
)

// The output conforms to both well-known schemas of this format, Ant's and Jenkins's: no attribute on the root, every attribute and child of a
// suite that either requires, in the order of the stricter one, and times without a zone. The stricter one has no skipped cases, so they are
// written to the output of the suite.

type junitRoot struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name      string `xml:"name,attr"`
	Package   string `xml:"package,attr"`
	ID        int    `xml:"id,attr"`
	Timestamp string `xml:"timestamp,attr"`
	Hostname  string `xml:"hostname,attr"`
	Tests     int    `xml:"tests,attr"`
	Failures  int    `xml:"failures,attr"`
	Errors    int    `xml:"errors,attr"`
	Time      string `xml:"time,attr"`

	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
	Out        string          `xml:"system-out"`
	Err        string          `xml:"system-err"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure"`
}

type junitFailure struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// serverSuite is the suite of findings that do not belong to a tool.
const serverSuite = "(server)"

// The limits of evidence in a failure, which build servers show in a small window.
const (
	junitEvidence     = 3
	junitEvidenceSize = 4000
)

// writeJUnit writes a suite for each tool and one for the server, with a case for each rule. A finding fails its case, except that findings
// with the severity info are written to the output of the suite, because they should not fail a build.
func writeJUnit(w io.Writer, r *probe.Report, _ Options) error {
	found := map[string][]probe.Finding{}
	for _, f := range probe.Sorted(r.Findings) {
		for _, one := range f.Split() { // one per tool
			found[one.Tool] = append(found[one.Tool], f)
		}
	}
	root := junitRoot{Suites: []junitSuite{junitSuiteOf(r, &r.Protocol, serverSuite, found[""])}}
	for i := range r.Tools {
		t := &r.Tools[i]
		root.Suites = append(root.Suites, junitSuiteOf(r, t, junitToken(t.Tool, "(unnamed)"), found[t.Tool]))
		delete(found, t.Tool) // a tool that is listed twice has its failures once
	}
	for i := range root.Suites {
		root.Suites[i].ID = i
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(root); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func junitSuiteOf(r *probe.Report, t *probe.ToolReport, name string, found []probe.Finding) junitSuite {
	s := junitSuite{
		Name: name, Package: junitToken(r.Server.Name, "server"), Timestamp: r.Begun.UTC().Format("2006-01-02T15:04:05"),
		Hostname: "localhost", Time: "0",
		Properties: []junitProperty{{"grade", string(gradeOf(t.Grade))}, {"rules", orDash(r.Rules)}, {"seed", fmt.Sprint(r.Seed)}},
	}
	var notes []string
	failures := map[string][]probe.Finding{}
	for _, f := range found {
		if f.Severity == probe.SeverityInfo {
			notes = append(notes, plain(f.Rule+": "+f.Message))
		} else {
			failures[f.Rule] = append(failures[f.Rule], f)
		}
	}
	for _, rule := range junitRules(r, found) {
		c := junitCase{Name: junitToken(rule.ID+" "+rule.Title, "(unnamed)"), Class: s.Package + "." + name, Time: "0"}
		if len(failures[rule.ID]) > 0 {
			c.Failure = junitFailureOf(failures[rule.ID])
			s.Failures++
			delete(failures, rule.ID)
		}
		s.Cases = append(s.Cases, c)
	}
	if t.Skipped != "" {
		notes = append(notes, "not done: "+plain(t.Skipped))
	}
	s.Tests = len(s.Cases)
	s.Out = strings.Join(notes, "\n")
	return s
}

// junitRules returns the applied rules, and those that only a finding names, as reports of other programs may have.
func junitRules(r *probe.Report, found []probe.Finding) []probe.Rule {
	rules := slices.Clone(r.Applied)
	known := rulesByID(r)
	for _, f := range found {
		if known[f.Rule] == nil {
			known[f.Rule] = &probe.Rule{ID: f.Rule}
			rules = append(rules, *known[f.Rule])
		}
	}
	return rules
}

func junitFailureOf(found []probe.Finding) *junitFailure {
	var b strings.Builder
	for i, f := range found {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s, %s: %s\nfix: %s\n", plain(string(f.Severity)), place(&f), plain(f.Message), plain(f.Fix))
		for _, e := range f.Evidence[:min(len(f.Evidence), junitEvidence)] {
			fmt.Fprintf(&b, "case: %s\nsent: %s\ngot:  %s\n", plain(e.Case), bounded(e.Request, junitEvidenceSize), bounded(cmp.Or(e.Response, noAnswer), junitEvidenceSize))
		}
	}
	return &junitFailure{Type: orDash(string(found[0].Severity)), Message: plain(found[0].Message), Text: b.String()}
}

// junitToken returns a text that is a valid token: not empty, without space at its ends.
func junitToken(s, otherwise string) string {
	if s = strings.Join(strings.Fields(plain(s)), " "); s != "" {
		return s
	}
	return otherwise
}
