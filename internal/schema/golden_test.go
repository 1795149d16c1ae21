package schema_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
)

var update = flag.Bool("update", false, "write the reports into testdata, for review")

// A file in testdata is one tool: its schema, then values (name.json), each followed by what is told of it (name.report).
func TestReportsReadAsRecorded(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded reports: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			a, err := readArchive(file)
			if err != nil {
				t.Fatal(err)
			}
			checkArchive(t, a)
			if *update {
				if err := os.WriteFile(file, a.format(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// checkArchive compares every report, or with -update writes it behind its value.
func checkArchive(t *testing.T, a *archive) {
	t.Helper()
	s := compile(t, string(a.Files[0].Data))
	recorded := map[string]string{}
	out := a.Files[:1:1]
	for _, f := range a.Files {
		if strings.HasSuffix(f.Name, ".report") {
			recorded[f.Name] = string(f.Data)
		}
	}
	for _, f := range a.Files[1:] {
		name, isValue := strings.CutSuffix(f.Name, ".json")
		if !isValue {
			continue
		}
		value := bytes.TrimSpace(f.Data)
		report := s.Explain(value)
		if s.Accepts(value) && !report.OK() {
			t.Errorf("%s is accepted and explained", name)
		}
		got := recite(t, report.Issues, report.Template)
		if report.Unchecked {
			got = "unchecked\n"
		}
		out = append(out, f, archiveFile{Name: name + ".report", Data: []byte(got)})
		if diff := difference(recorded[name+".report"], got); diff != "" && !*update {
			t.Errorf("%s (run with -update if this is meant): %s", name, diff)
		}
	}
	a.Files = out
}

// recite writes a report as a reader meets it: an issue per line, then the template.
func recite(t *testing.T, issues []candor.Issue, template candor.Details) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, issue := range issues {
		if err := enc.Encode(issue); err != nil {
			t.Fatal(err)
		}
	}
	if len(issues) == 0 {
		return "in order\n"
	}
	return b.String() + "template " + template.String() + "\n"
}
