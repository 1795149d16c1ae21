package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe/report"
	"github.com/candor-mcp/candor/internal/probe"
)

// TestSkipsAreGroupedByReason has a server without annotations, and a tool that hangs.
func TestSkipsAreGroupedByReason(t *testing.T) {
	t.Parallel()
	r := &probe.Report{Version: probe.ReportVersion, Rules: "agent"}
	for _, tool := range strings.Fields("a b c d e f g h i j") {
		r.Skipped = append(r.Skipped, probe.Skip{Tool: tool, What: "calls that it might carry out", Reason: "it is not declared read-only; --allow " + tool + " includes them"})
	}
	for _, name := range []string{"args_array", "args_null"} {
		r.Skipped = append(r.Skipped, probe.Skip{Tool: "slow", What: "validation/" + name + "/slow", Reason: "the tool has not answered in time too often"})
	}
	r.Skipped = append(r.Skipped, probe.Skip{What: "tools", Reason: "none"}, probe.Skip{What: "tools", Reason: "none"}, probe.Skip{Tool: "x", What: "all cases", Reason: "--allow x includes it"})
	for format, lines := range map[string][]string{
		"text":     {"a, b, c, d, e, f, g, h and 2 more, calls that it might carry out", "--allow NAME", "slow, 2 cases: the tool", "x, all cases: --allow x includes it"},
		"markdown": {"and 2 more, calls that it might carry out", "slow, 2 cases"},
		"html":     {"and 2 more, calls that it might carry out", "slow, 2 cases"},
	} {
		var out bytes.Buffer
		if err := report.Write(&out, format, r, report.Options{}); err != nil {
			t.Fatal(err)
		}
		for _, want := range lines {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s does not say %q:\n%s", format, want, out.String())
			}
		}
		if n := strings.Count(out.String(), "tools: none"); n != 2 {
			t.Errorf("%s: what belongs to no tool is told %d times of 2", format, n)
		}
	}
}
