package rules

import (
	"strings"

	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/wire"
)

// misuseRules check how malformed requests are refused.
var misuseRules = []rule{
	{Rule: probe.Rule{ID: "EC047", Title: "No answer to invalid JSON", Severity: probe.SeverityInfo, Sets: agentSets, Outside: true,
		Reason: "A client whose message was garbled waits for an answer that does not come.",
		Clause: "JSON-RPC 2.0, 5.1: -32700, invalid JSON was received by the server; evidence: 111 of 118 recorded servers are silent",
		Fix:    "Answer with the JSON-RPC error -32700."},
		what: "does not answer a line that is not JSON", // over HTTP the status is an answer
		when: func(s *caseResult) bool {
			return s.Case.Name == probe.CaseMalformedJSON && s.Outcome == probe.OutcomeNoAnswer && s.Status == 0
		}},
	{Rule: probe.Rule{ID: "EC048", Title: "Answer with the id null", Severity: probe.SeverityInfo, Sets: agentSets, Outside: true,
		Reason: "JSON-RPC uses null for an id that could not be read, but MCP has no such id: clients that validate drop the answer.",
		Clause: "MCP 2025-11-25, schema, JSONRPCErrorResponse: id is a text or a number, and may be left out; evidence: 7 of 118 recorded servers answer so",
		Fix:    "Omit the id from the error."},
		what: "refuses CASE with the id null",
		when: func(s *caseResult) bool {
			null := s.message.ID() != nil && s.message.ID().IsNull()
			return s.answered() && null && s.Case.Group == probe.GroupProtocol && s.Case.Expect == probe.ExpectSilence
		}},
	{Rule: probe.Rule{ID: "EC049", Title: "Batch partly answered", Severity: probe.SeverityMinor, Sets: everySet, Outside: true,
		Reason: "The client waits forever for the requests that were not answered.",
		Clause: "JSON-RPC 2.0, 6: a response SHOULD exist for each request of a batch; MCP since 2025-06-18 has no batches, so that one is refused as a whole",
		Fix:    "Refuse a batch with -32600, or answer all of it."},
		what: "answers only some requests of a batch",
		when: func(s *caseResult) bool { return s.Case.Name == probe.CaseBatch && s.answersInPart() }},
}

// answersInPart reports whether only some requests of the batch were answered. A refusal of the whole batch may have any id.
func (s *caseResult) answersInPart() bool {
	asked := map[string]bool{}
	for _, m := range messages(s.Request) {
		if m.ID() != nil {
			asked[string(m.ID())] = true
		}
	}
	total, served := len(asked), false
	for _, m := range messages(s.Response) {
		number, refused := m.Error().Path("code").Int64()
		served = served || asked[string(m.ID())] && (!refused || number != -32600 && number != -32700)
		delete(asked, string(m.ID()))
	}
	return served && len(asked) > 0 && len(asked) < total
}

// messages returns all messages in a text: one per line, with batches split.
func messages(text string) []wire.Message {
	var out []wire.Message
	for line := range strings.Lines(text) {
		m := wire.Parse([]byte(strings.TrimSpace(line)), wire.Limits{})
		units, ok := m.SplitBatch()
		if !ok {
			out = append(out, m)
		}
		for _, unit := range units {
			out = append(out, wire.Parse(unit, wire.Limits{}))
		}
	}
	return out
}
