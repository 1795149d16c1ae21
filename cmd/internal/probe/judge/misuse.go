package judge

import (
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/wire"
)

// misuseRules: what is no sound request is refused in a way that whoever sent it can use.
var misuseRules = []rule{
	{Rule: probe.Rule{ID: "EC047", Title: "No answer to what is no JSON", Severity: probe.SeverityInfo, Sets: agentSets, Outside: true,
		Reason: "A client whose message was garbled on its way waits for an answer; most servers keep it waiting.",
		Clause: "JSON-RPC 2.0, 5.1: -32700, invalid JSON was received by the server; evidence: 111 of 118 recorded servers are silent",
		Fix:    "Answer with the JSON-RPC error -32700."},
		each: func(s *sight) (string, bool) { // over HTTP the status is an answer
			return "does not answer a line that is no JSON", s.Case.Name == probe.CaseMalformedJSON && s.Outcome == probe.OutcomeNoAnswer && s.Status == 0
		}},
	{Rule: probe.Rule{ID: "EC048", Title: "Answer under the id null", Severity: probe.SeverityInfo, Sets: agentSets, Outside: true,
		Reason: "JSON-RPC wants null where an id could not be read, and MCP has no such id: clients that validate drop the answer.",
		Clause: "MCP 2025-11-25, schema, JSONRPCErrorResponse: id is a text or a number, and may be left out; evidence: 7 of 118 recorded servers answer so",
		Fix:    "Leave the id out of the error."},
		each: func(s *sight) (string, bool) {
			null := s.message.ID() != nil && s.message.ID().IsNull()
			return "refuses " + s.Case.Name + " under the id null", s.answered() && null && s.Case.Group == probe.GroupProtocol && s.Case.Expect == probe.ExpectSilence
		}},
	{Rule: probe.Rule{ID: "EC049", Title: "Batch answered in part", Severity: probe.SeverityMinor, Sets: everySet, Outside: true,
		Reason: "Whoever sent the requests that were forgotten waits for ever.",
		Clause: "JSON-RPC 2.0, 6: a response SHOULD exist for each request of a batch; MCP since 2025-06-18 has no batches, so that one is refused as a whole",
		Fix:    "Refuse a batch with -32600, or answer all of it."},
		each: func(s *sight) (string, bool) {
			return "answers some requests of a batch and forgets the others", s.Case.Name == probe.CaseBatch && s.answersInPart()
		}},
}

// answersInPart reports a batch of which something was answered, and something was not. One that is refused as a whole may carry any id.
func (s *sight) answersInPart() bool {
	asked := map[string]bool{}
	for _, m := range messages(s.Request) {
		if m.ID() != nil {
			asked[string(m.ID())] = true
		}
	}
	all, served := len(asked), false
	for _, m := range messages(s.Response) {
		number, refused := m.Error().Path("code").Int64()
		served = served || asked[string(m.ID())] && (!refused || number != -32600 && number != -32700)
		delete(asked, string(m.ID()))
	}
	return served && len(asked) > 0 && len(asked) < all
}

// messages are all messages in a text: one, one a line, or those of batches.
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
