package rules_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/probe/rules"
)

// scene is a short description of a run.
type scene struct {
	set      string
	protocol string
	tool     probe.Tool
	seen     []probe.Observation
}

// searcher is a read-only tool with two required arguments.
func searcher() probe.Tool {
	yes := true
	return probe.Tool{Name: "search", Annotations: probe.Annotations{ReadOnly: &yes},
		InputSchema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"},"page":{"type":"integer"}},"required":["query","page"],"additionalProperties":false}`)}
}

func one(seen ...probe.Observation) scene { return scene{tool: searcher(), seen: seen} }

func (s scene) under(set string) scene         { s.set = set; return s }
func (s scene) at(protocol string) scene       { s.protocol = protocol; return s }
func (s scene) with(f func(*probe.Tool)) scene { f(&s.tool); return s }

func (s scene) run() *probe.Run {
	return &probe.Run{Version: 1, Server: probe.Server{Name: "x", Protocol: s.protocol}, Tools: []probe.Tool{s.tool}, Observations: s.seen}
}

// call returns a case of the tool with its answer.
func call(group probe.Group, name string, expect probe.Expect, answer string) probe.Observation {
	return probe.Observation{Case: probe.Case{Group: group, Name: name, Tool: "search", Expect: expect, Method: "tools/call"},
		Request:  `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"search","arguments":{}}}`,
		Response: `{"jsonrpc":"2.0","id":7,` + answer + `}`, Outcome: probe.OutcomeAnswered}
}

func invalid(name, field, answer string) probe.Observation {
	o := call(probe.GroupValidation, name, probe.ExpectRefusal, answer)
	o.Case.Field = field
	return o
}

func missing(answer string) probe.Observation { return invalid(probe.CaseMissingOne, "/query", answer) }
func absent(answer string) probe.Observation {
	return call(probe.GroupDomain, probe.CaseNonexistent, probe.ExpectFailure, answer)
}
func upstream(name, answer string) probe.Observation {
	return call(probe.GroupUpstream, name, probe.ExpectFailure, answer)
}

// server returns a case of the protocol.
func server(name string, answer string) probe.Observation {
	o := call(probe.GroupProtocol, name, probe.ExpectRefusal, answer)
	o.Case.Tool = ""
	return o
}

func (s scene) change(f func(o *probe.Observation)) scene {
	s.seen = slices.Clone(s.seen)
	f(&s.seen[len(s.seen)-1])
	return s
}

func text(failed bool, words string) string {
	raw, err := json.Marshal(words)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`"result":{"content":[{"type":"text","text":%s}],"isError":%t}`, raw, failed)
}

// good returns a failure that breaks no rule.
func good(code, words, more string) string {
	return text(true, fmt.Sprintf(`{"error":{"code":%q,"message":%q},"requestId":"r-17"%s}`, code, words, more))
}

const (
	wait   = `,"retryable":true,"retryAfterMs":37000`
	no     = `,"retryable":false`
	notOK  = `{"ok":false,"error":{"code":"ERR_NOT_FOUND","message":"no such page"}}`
	kaiza  = `{"error_code":%q,"human_message":"no such file","role":null,"session_id":null,"workspace_root":null,"tool_name":"search","invariant_id":null,"phase_id":null,"plan_hash":null,"cause":null,"timestamp":"2026-01-01T00:00:00.000Z"}`
	newest = "2026-07-28"
)

func rpc(number int, message string) string {
	return fmt.Sprintf(`"error":{"code":%d,"message":%q}`, number, message)
}

// found returns the rules that a scene breaks, in order.
func found(t *testing.T, s scene) (string, *probe.Report) {
	t.Helper()
	report, err := rules.Judge(s.run(), s.set)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for i := range report.Findings {
		ids = append(ids, report.Findings[i].Rule)
	}
	slices.Sort(ids)
	return strings.Join(ids, " "), report
}

// TestEachRuleIsFoundAlone checks that bad breaks exactly the rule, and that near, which is very similar, breaks none.
func TestEachRuleIsFoundAlone(t *testing.T) {
	for _, c := range ruleTable() {
		t.Run(c.rule, func(t *testing.T) {
			if got, report := found(t, c.bad); got != c.rule {
				t.Errorf("bad: found %q, want %q\n%s", got, c.rule, show(report))
			}
			if got, report := found(t, c.near); got != "" {
				t.Errorf("near miss: found %q\n%s", got, show(report))
			}
		})
	}
}

func show(r *probe.Report) string {
	out, err := json.MarshalIndent(r.Findings, "", " ")
	if err != nil {
		panic(err)
	}
	return string(out)
}

// TestEveryRuleHasATest checks that the table is complete. Rules that are found by comparing reports are tested with
// the comparison.
func TestEveryRuleHasATest(t *testing.T) {
	tested := map[string]bool{"EC030": true}
	for _, c := range ruleTable() {
		tested[c.rule] = true
	}
	last := ""
	for _, r := range rules.Rules() {
		if !tested[r.ID] {
			t.Errorf("%s has no test", r.ID)
		}
		if r.ID <= last {
			t.Errorf("%s comes after %s", r.ID, last)
		}
		last = r.ID
		if r.Title == "" || r.Reason == "" || r.Clause == "" || r.Fix == "" || r.Severity == "" || len(r.Sets) == 0 {
			t.Errorf("%s is incomplete: %+v", r.ID, r)
		}
		for _, set := range r.Sets {
			if !slices.Contains(rules.Sets(), set) {
				t.Errorf("%s: no set %q", r.ID, set)
			}
		}
	}
}
