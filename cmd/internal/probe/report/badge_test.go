package report_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/cmd/internal/probe/report"
)

// TestBadgeIsSafeXML checks that no text of a server adds an element or an attribute to a badge.
func TestBadgeIsSafeXML(t *testing.T) {
	shape := func(r *probe.Report) (elements string, title string) {
		d := xml.NewDecoder(strings.NewReader(write(t, report.FormatBadge, r, report.Options{})))
		inTitle := false
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				return elements, title
			}
			if err != nil {
				t.Fatal(err)
			}
			switch v := token.(type) {
			case xml.StartElement:
				inTitle = v.Name.Local == "title"
				elements += v.Name.Local + " "
				for _, a := range v.Attr {
					elements += a.Name.Local + " "
				}
			case xml.CharData:
				if inTitle {
					title += strings.TrimSpace(string(v))
				}
			}
		}
	}
	want, _ := shape(&probe.Report{Version: 1})
	for name, r := range reports(t) {
		got, title := shape(r)
		if got != want {
			t.Errorf("%s: elements %s, want %s", name, got, want)
		}
		if title == "" || len(title) > 400 {
			t.Errorf("%s: title %q", name, title)
		}
	}
}

func TestBadgeMarksAnIncompleteGrade(t *testing.T) {
	for want, r := range map[string]*probe.Report{
		"grade B":             {Grade: probe.GradeB},
		"grade A, incomplete": {Grade: probe.GradeA, GradeIncomplete: "no tool was called"},
		"grade C, incomplete": {Grade: probe.GradeC, Incomplete: "interrupted"},
		"no grade":            {Grade: "Z", Incomplete: "the server has no tools"},
	} {
		if got := report.NewBadge(r).Message; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if svg := write(t, report.FormatBadge, r, report.Options{}); !strings.Contains(svg, ">"+want+"</text>") {
			t.Errorf("%q is not in %s", want, svg)
		}
	}
}

// TestSARIFHasPhysicalLocation checks what code scanning requires: a relative URI in every result, with a region.
func TestSARIFHasPhysicalLocation(t *testing.T) {
	r := &probe.Report{Version: 1, Findings: []probe.Finding{
		{Rule: "EC001", Severity: probe.SeverityMajor, Tool: "b"}, {Rule: "EC002", Severity: probe.SeverityMajor}, {Rule: "EC003", Severity: probe.SeverityMajor, Tools: []string{"b", "c"}},
	}}
	source := report.Source{Path: "src/my 100% server#1.js", Lines: map[string]int{"b": 7}}
	run := member(member(parsed(t, write(t, report.FormatSARIF, r, report.Options{Source: source})), "runs"), 0)
	wantLines := map[any]float64{"EC001": 7, "EC002": 1, "EC003": 7}
	for _, result := range items(member(run, "results")) {
		file := member(member(member(result, "locations"), 0), "physicalLocation")
		if got := member(member(file, "artifactLocation"), "uri"); got != "src/my%20100%25%20server%231.js" {
			t.Errorf("uri %v", got)
		}
		for _, name := range []string{"startLine", "endLine"} {
			if got, want := member(member(file, "region"), name), wantLines[member(result, "ruleId")]; got != want {
				t.Errorf("%v: %s %v, want %v", member(result, "ruleId"), name, got, want)
			}
		}
	}
	if strings.Contains(write(t, report.FormatSARIF, r, report.Options{}), "physicalLocation") {
		t.Error("a physicalLocation without a file")
	}
}

func parsed(t *testing.T, text string) (out any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}
