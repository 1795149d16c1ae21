package driver_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe/cases"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/wire"
)

// answers has the answers of the server writers to calls without required arguments, by tool.
var answers = map[string]string{
	"strict":      `{"content":[{"type":"text","text":"title is required"}],"isError":true}`,
	"feedback":    `{"content":[{"type":"text","text":"Thank you, your feedback was recorded."}]}`,
	"chat":        `{"content":[{"type":"text","text":"request to https://chat.example.com failed: getaddrinfo ENOTFOUND chat.example.com"}],"isError":true}`,
	"lookup":      `{"content":[{"type":"text","text":"Item undefined not found"}],"isError":true}`,
	"drop_things": `{"content":[{"type":"text","text":"title is required"}],"isError":true}`,
}

// writers is a server with tools that are not declared read-only. With the name writers-strict all of them check their
// arguments.
func writers(who string, m *wire.Message) string {
	name, _ := m.Params().Path("name").Str()
	result := answers[name]
	if who == "writers-strict" {
		result = answers["strict"]
	}
	if m.MethodIs("tools/list") {
		var tools []string
		for _, name := range []string{"drop_things", "strict", "feedback", "chat", "lookup"} {
			tools = append(tools, `{"name":"`+name+`","inputSchema":{"type":"object","properties":{"title":{"type":"string"},"size":{"type":"integer","minimum":1}},"required":["title"]}}`)
		}
		result = `{"tools":[` + strings.Join(tools, ",") + `]}`
	}
	return `{"jsonrpc":"2.0","id":` + string(m.ID()) + `,"result":` + result + `}`
}

// safely drives a server with the cases that probe would plan.
func safely(t *testing.T, who string, allow ...string) (calls map[string][]string, run *probe.Run) {
	t.Helper()
	o := patient()
	o.Allow = allow
	o.Cases = func(_ probe.Server, tools []probe.Tool) ([]probe.Case, []probe.Skip) {
		return cases.Plan(tools, cases.Options{NoProtocol: true, Allow: allow})
	}
	run = driven(t, server(who), o)
	calls = map[string][]string{}
	for _, seen := range run.Observations {
		calls[seen.Case.Tool] = append(calls[seen.Case.Tool], seen.Case.Name)
	}
	return calls, run
}

// refusable lists the only cases for a tool that is not declared read-only.
var refusable = []string{probe.CaseMissingRequired, probe.CaseMissingRequired, probe.CaseArgsArray, probe.CaseArgsString, probe.CaseArgsNull, probe.CaseArgsAbsent}

func TestWritingToolsGetOnlyRefusableCalls(t *testing.T) {
	t.Parallel()
	calls, _ := safely(t, "writers-strict")
	for tool := range answers {
		if !slices.Equal(calls[tool], refusable) {
			t.Errorf("%s was called with %v", tool, calls[tool])
		}
	}
}

func TestCallsStopAtTheFirstSignThatAToolRan(t *testing.T) {
	t.Parallel()
	calls, run := safely(t, "writers")
	for tool, want := range map[string]int{"strict": len(refusable), "feedback": 1, "chat": 1, "lookup": 1, "drop_things": 0} {
		if len(calls[tool]) != want {
			t.Errorf("%s was called with %v, want %d calls", tool, calls[tool], want)
		}
	}
	for tool, want := range map[string]string{"feedback": "answered with a success", "chat": "failure of its upstream", "lookup": "other than a refusal", "drop_things": "may destroy"} {
		if !slices.ContainsFunc(run.Skipped, func(s probe.Skip) bool { return s.Tool == tool && strings.Contains(s.Reason, want) }) {
			t.Errorf("%s: the reason %q is missing in %v", tool, want, run.Skipped)
		}
	}
	if calls, _ := safely(t, "writers", "feedback"); len(calls["feedback"]) <= len(refusable) {
		t.Errorf("with leave, feedback was called with %v", calls["feedback"])
	}
}

// TestDriveRefusesUnsafeCasesOfAPlan has calls with a wrong type, which many servers drop before they carry out the
// call.
func TestDriveRefusesUnsafeCasesOfAPlan(t *testing.T) {
	t.Parallel()
	careful := call(probe.CaseWrongType, "read", probe.ExpectRefusal)
	careful.Care = probe.CareStop // by its name
	run := driven(t, server("good"), patient(call(probe.CaseWrongType, "write", probe.ExpectRefusal), careful))
	if len(run.Observations) != 0 || len(run.Skipped) != 2 {
		t.Errorf("seen %q", story(run))
	}
}
