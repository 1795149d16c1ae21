package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/probe/rules"
)

// forty returns the run of a server with forty tools, each of which answers with these words, with NAME replaced by its
// name.
func forty(words string) *probe.Run {
	run := &probe.Run{Version: 1}
	for i := range 40 {
		tool := searcher()
		tool.Name = fmt.Sprintf("tool_%c%c", 'a'+i/26, 'a'+i%26)
		run.Tools = append(run.Tools, tool)
		o := absent(text(true, strings.ReplaceAll(words, "NAME", tool.Name)))
		o.Case.Tool = tool.Name
		run.Observations = append(run.Observations, o)
	}
	return run
}

// TestToolsShareAFindingByCause has a missing browser, which forty tools report with the same text.
func TestToolsShareAFindingByCause(t *testing.T) {
	t.Parallel()
	run := forty("NAME failed: browserType.launch: Executable doesn't exist at chromium-1187, run 40 is over")
	r, err := rules.Judge(run, "")
	if err != nil || len(r.Findings) != 1 {
		t.Fatalf("%v, %d findings\n%s", err, len(r.Findings), show(r))
	}
	f := r.Findings[0]
	if f.Rule != "EC010" || f.Tool != "" || len(f.Tools) != 40 || f.Count != 40 || len(f.Evidence) != 3 || !strings.Contains(f.Message, "Each of 40 tools (tool_aa, tool_ab, tool_ac and 37 more)") {
		t.Errorf("found %+v", f)
	}
	for _, tool := range r.Tools {
		if tool.Findings != 1 || tool.Grade != probe.GradeC {
			t.Errorf("%s: %d findings, grade %s", tool.Tool, tool.Findings, tool.Grade)
		}
	}
	// A tool that fails with another text has a separate finding.
	own := absent(text(true, "there is something else"))
	own.Case.Tool = run.Tools[3].Name
	run.Observations[3] = own
	if r, err = rules.Judge(run, ""); err != nil || len(r.Findings) != 2 || len(r.Findings[0].Tools) != 39 || r.Findings[1].Tool != own.Case.Tool {
		t.Errorf("%v\n%s", err, show(r))
	}
	// Tools that share one of several failures have one finding of the rule, with all of them.
	run.Observations = append(run.Observations, own)
	run.Observations[len(run.Observations)-1].Case.Tool = run.Tools[5].Name
	if r, err = rules.Judge(run, ""); err != nil || len(r.Findings) != 1 || len(r.Findings[0].Tools) != 40 || r.Findings[0].Count != 41 {
		t.Errorf("%v\n%s", err, show(r))
	}
}

func TestGradeIsIncompleteWithoutCalls(t *testing.T) {
	t.Parallel()
	refused := missing(good("INVALID", "query is missing", ""))
	for name, tc := range map[string]struct {
		seen []probe.Observation
		want probe.Coverage
		mark string
	}{
		"refusals only": {[]probe.Observation{refused}, probe.Coverage{Tools: 1, Refusing: 1}, "no tool was called with arguments that it accepts"},
		"one call":      {[]probe.Observation{refused, absent(good("GONE", "no such page", ""))}, probe.Coverage{Tools: 1, Called: 1}, ""},
	} {
		r := report(t, one(tc.seen...))
		if r.Coverage != tc.want || r.GradeIncomplete != tc.mark || r.Grade != probe.GradeA {
			t.Errorf("%s: %+v, %q, grade %s", name, r.Coverage, r.GradeIncomplete, r.Grade)
		}
	}
	if r := report(t, one(server(probe.CaseUnknownMethod, rpc(-32601, "method not found")))); r.Coverage.LeftOut != 1 || r.Grade != "" || r.Incomplete != "no tool was called" {
		t.Errorf("nothing called: %+v, %q, grade %q", r.Coverage, r.Incomplete, r.Grade)
	}
	none, err := rules.Judge(&probe.Run{Observations: []probe.Observation{server(probe.CaseUnknownMethod, rpc(-32601, "method not found"))}}, "")
	if err != nil || none.Grade != probe.GradeA || none.GradeIncomplete != "the server lists no tools" {
		t.Errorf("no tools: %v, grade %q, %q", err, none.Grade, none.GradeIncomplete)
	}
}
