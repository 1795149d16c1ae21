package report_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/candor-mcp/candor/cmd/internal/probe/report"
	"github.com/candor-mcp/candor/internal/probe"
)

var update = flag.Bool("update", false, "write the golden files anew")

// sample returns a report with typical findings, and one tool with texts that try to break out of each format.
func sample(t *testing.T) *probe.Report {
	t.Helper()
	data, err := os.ReadFile("testdata/sample.json")
	if err != nil {
		t.Fatal(err)
	}
	r, err := report.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func write(t *testing.T, format string, r *probe.Report, o report.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Write(&b, format, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; -update writes it", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; -update takes it):\n%s", name, diff)
	}
}

func TestFormatsMatchGoldenFiles(t *testing.T) {
	for _, c := range []struct {
		name, format string
		options      report.Options
	}{
		{"sample.txt", report.FormatText, report.Options{}},
		{"colour.txt", report.FormatText, report.Options{Colour: true}},
		{"sample.json", report.FormatJSON, report.Options{}},
		{"sample.md", report.FormatMarkdown, report.Options{}},
		{"sample.html", report.FormatHTML, report.Options{}},
		{"sample.xml", report.FormatJUnit, report.Options{}},
		{"sample.sarif", report.FormatSARIF, report.Options{Source: report.Source{Path: "src/server.js", Lines: map[string]int{"search_documents": 12}}}},
	} {
		t.Run(c.name, func(t *testing.T) { golden(t, c.name, write(t, c.format, sample(t), c.options)) })
	}
}
