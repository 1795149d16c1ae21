package rules_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/probe/rules"
	"github.com/candor-mcp/candor/internal/testing/corpus"
	"github.com/candor-mcp/candor/internal/testing/sweep"
)

// TestEveryRecordedServerIsJudged judges a run of every fourth recorded server, or of all with -all: every server gets a grade or a reason for the
// missing grade, and no server that masks a failure gets an A.
func TestEveryRecordedServerIsJudged(t *testing.T) {
	records, err := recordings()
	if errors.Is(err, corpus.ErrAbsent) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]*probe.Run{}
	tools := recordedTools(t)
	for i := range records {
		r := &records[i]
		run := runs[r.Server]
		if run == nil {
			run = &probe.Run{Server: probe.Server{Name: r.Server, Protocol: "2025-11-25"}}
			for _, name := range slices.Sorted(maps.Keys(tools[r.Server])) {
				run.Tools = append(run.Tools, *tools[r.Server][name])
			}
			runs[r.Server] = run
		}
		run.Observations = append(run.Observations, observation(r))
	}
	grades, found := map[probe.Grade]int{}, map[string]int{}
	for i, name := range slices.Sorted(maps.Keys(runs)) {
		if i%sweep.Step(4, 8) != 0 {
			continue
		}
		report, err := rules.Judge(runs[name], "")
		if err != nil {
			t.Fatal(err)
		}
		if report.Grade == "" && report.Incomplete == "" || report.Grade == probe.GradeA && report.Masked > 0 {
			t.Errorf("%s: grade %q", name, report.Grade)
		}
		grades[report.Grade]++
		for _, f := range report.Findings {
			found[f.Rule]++
		}
	}
	t.Logf("grades: %v; findings by rule: %v", grades, found)
}
