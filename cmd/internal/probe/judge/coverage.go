package judge

import "github.com/candor-mcp/candor/cmd/internal/probe"

// coverage counts how the tools were called.
func coverage(run *probe.Run) probe.Coverage {
	called, refusing := map[string]bool{}, map[string]bool{}
	for i := range run.Observations {
		c := &run.Observations[i].Case
		switch {
		case c.Tool == "" || c.Method != "tools/call":
		case c.Expect == probe.ExpectRefusal:
			refusing[c.Tool] = true
		default:
			called[c.Tool] = true
		}
	}
	out := probe.Coverage{Tools: len(run.Tools)}
	for i := range run.Tools {
		switch name := run.Tools[i].Name; {
		case called[name]:
			out.Called++
		case refusing[name]:
			out.Refusing++
		default:
			out.LeftOut++
		}
	}
	return out
}

// gradeIncomplete is why the grade of a report says little, "" if it has none or says enough.
func gradeIncomplete(r *probe.Report) string {
	switch {
	case r.Grade == "" || r.Coverage.Called > 0:
		return ""
	case r.Coverage.Tools == 0:
		return "the server lists no tools"
	case r.Coverage.Refusing == 0:
		return "no tool was called"
	default:
		return "no tool was called with arguments that it accepts"
	}
}
