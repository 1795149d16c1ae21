package rules

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// allocated is the first protocol version that assigns error numbers and their HTTP status.
const allocated = "2026-07-28"

// protocolRules check error numbers, ids, HTTP status, and the choice between a JSON-RPC error and a result.
var protocolRules = []rule{
	{Rule: probe.Rule{ID: "EC004", Title: "Protocol error instead of a tool error", Severity: probe.SeverityMajor, Sets: notRPC, Outside: true,
		Reason: "Many clients do not show JSON-RPC errors to the model, so it can neither correct the call nor choose another tool.",
		Clause: "SEP-1303; MCP 2025-11-25, Server Features, Tools, Error Handling: API failures, input validation and business logic are tool execution errors",
		Fix:    "Answer with a result that has isError: true."},
		across: wrongChannel},
	{Rule: probe.Rule{ID: "EC005", Title: "Unknown tool is not answered with -32602", Severity: probe.SeverityInfo, Sets: everySet, Outside: true,
		Reason: "Clients that read the number do not learn that their list of tools is out of date.",
		Clause: "MCP 2025-11-25, Server Features, Tools, Error Handling: an unknown tool is a protocol error; its example has the code -32602",
		Fix:    "Answer with the JSON-RPC error -32602."},
		each: unknownTool},
	{Rule: probe.Rule{ID: "EC006", Title: "JSON-RPC error without a valid code", Severity: probe.SeverityMajor, Sets: everySet,
		Reason: "0 is the value of a number that was not set; clients take it for success, or cannot read the answer.",
		Clause: "JSON-RPC 2.0, 5.1: code is a number that indicates the error type that occurred, and MUST be an integer",
		Fix:    "Use a standard number, or one outside -32768 to -32000."},
		what: "sends a JSON-RPC error without a valid code",
		when: func(s *caseResult) bool {
			return !s.isBareHTTP() && s.violates("number-zero", wireflaw.BadError.String())
		}},
	{Rule: probe.Rule{ID: "EC007", Title: "Reserved number in a JSON-RPC error", Severity: probe.SeverityMinor, Sets: everySet,
		Reason: "The number may come to mean something else.",
		Clause: "JSON-RPC 2.0, 5.1: codes from -32768 to -32000 are reserved, of which -32000 to -32099 are for the implementation; MCP 2026-07-28, Base Protocol, Error Codes, takes -32020 to -32099 for itself",
		Fix:    "Use a number outside -32768 to -32000."},
		what: "uses a reserved number",
		when: func(s *caseResult) bool { return s.violates("reserved-number") }},
	{Rule: probe.Rule{ID: "EC008", Title: "Legacy number in a JSON-RPC error", Severity: probe.SeverityMinor, Sets: everySet,
		Reason: "SDKs use these numbers for local errors such as a closed connection, so a client cannot tell where the error comes from.",
		Clause: "MCP 2026-07-28, Base Protocol, Error Codes: new implementations SHOULD NOT use -32000 to -32019",
		Fix:    "Use a number outside -32768 to -32000."},
		what: "uses a number of the legacy range",
		when: func(s *caseResult) bool { return s.since(allocated) && s.violates("legacy-number", "draft-number") }},
	{Rule: probe.Rule{ID: "EC009", Title: "Retired number in a JSON-RPC error", Severity: probe.SeverityMinor, Sets: everySet,
		Reason: "Clients of this version do not know it.",
		Clause: "MCP 2026-07-28, Base Protocol, Error Codes: implementations MUST NOT emit -32002 and -32042",
		Fix:    "Use -32602 with data.uri for a resource, and input_required for user input."},
		what: "uses a retired number",
		when: func(s *caseResult) bool { return s.since(allocated) && s.violates("retired-number") }},
	{Rule: probe.Rule{ID: "EC027", Title: "HTTP status does not match the answer", Severity: probe.SeverityMinor, Sets: everySet,
		Reason: "A client that reads only one of the two ends the session or retries in vain; plain text with an error status ends whole sessions.",
		Clause: "MCP 2026-07-28, Streamable HTTP: 404 goes with -32601, 400 with -32020, -32021 and -32022; a request is answered as application/json or text/event-stream",
		Fix:    "Send the JSON-RPC error as the body, with the status that belongs to its number."},
		each: statusMismatch},
	{Rule: probe.Rule{ID: "EC028", Title: "Answer with another id", Severity: probe.SeverityCritical, Sets: everySet, Outside: true,
		Reason: "The client waits for an answer that never comes, or assigns it to another call.",
		Clause: "JSON-RPC 2.0, 5: id MUST be the same as the value of the id member in the request; MCP, Base Protocol, Responses, says the same",
		Fix:    "Answer with the id of the request, also after a panic."},
		what: "answers with an id that is not that of the call",
		when: func(s *caseResult) bool { return s.strayID() }},
	{Rule: probe.Rule{ID: "EC039", Title: "Malformed answer", Severity: probe.SeverityMajor, Sets: everySet,
		Reason: "Strict clients drop it and wait forever; lenient clients guess.",
		Clause: "JSON-RPC 2.0, 5; MCP schema, CallToolResult: isError is a boolean, result is an object",
		Fix:    "Validate every message against the protocol schema before sending it."},
		each: func(s *caseResult) (string, bool) {
			for _, v := range s.reading.Violations { // parts missing in an answer that probe truncated are not the server's fault
				if malforms(v.Rule) && s.Outcome == probe.OutcomeAnswered && s.Size == 0 {
					return "sends a malformed answer (" + v.Rule + ")", true
				}
			}
			return "", false
		}},
}

// wrongChannel finds tool failures that are sent as JSON-RPC errors. The gateway refuses bad arguments itself and
// converts the errors of a tool to results if its profile has a rule for it, except errors with a number of the
// protocol.
func wrongChannel(p *subject) []hit {
	var out []hit
	for _, s := range p.results {
		own := s.fixable() || s.Case.Group == probe.GroupDomain || s.Case.Group == probe.GroupUpstream
		if own && s.label() == LabelProtocol {
			out = append(out, hit{s: s, what: "reports a tool failure as a JSON-RPC error", beyondGateway: !s.fixable() && s.violates("reserved-number")})
		}
	}
	return out
}

// fixable reports whether the case has to be refused by the tool, because its arguments are an object.
func (s *caseResult) fixable() bool {
	return s.Case.Group == probe.GroupValidation && s.Case.Expect == probe.ExpectRefusal &&
		!slices.Contains([]string{probe.CaseArgsArray, probe.CaseArgsString, probe.CaseArgsNull, probe.CaseArgsAbsent}, s.Case.Name)
}

func unknownTool(s *caseResult) (string, bool) {
	if s.Case.Name != probe.CaseUnknownTool {
		return "", false
	}
	switch s.label() {
	case LabelProtocol:
		number, _ := s.message.Error().Path("code").Int64()
		return "answers an unknown tool with the number " + strconv.FormatInt(number, 10), number != -32602
	case LabelText, LabelJSON, LabelStructured:
		return "answers an unknown tool with a result", true
	default:
		return "", false
	}
}

// malforms reports whether a violation of the contract belongs to EC039, because no other rule covers it.
func malforms(name string) bool {
	switch name {
	case "bad-is-error", "null-result", "legacy-tool-result":
		return true
	}
	flaw, ok := wireflaw.Parse(name)
	return ok && flaw != wireflaw.None && flaw != wireflaw.BadError && flaw != wireflaw.NullID && flaw != wireflaw.MissingID && flaw != wireflaw.Batch
}

func statusMismatch(s *caseResult) (string, bool) {
	if s.Status == 0 || s.Case.Raw != nil || s.Case.Group == probe.GroupLiveness || s.Size > 0 {
		return "", false
	}
	number, isError := s.message.Error().Path("code").Int64()
	switch {
	case s.isBareHTTP(), s.Status >= http.StatusBadRequest && s.Response != "" && s.message.Shape() == wire.KindMalformed:
		return "answers status " + strconv.Itoa(s.Status) + " without a JSON-RPC body", true
	case isError && s.Status >= 500 && number >= -32700 && number <= -32600 && number != -32603:
		return "answers " + strconv.FormatInt(number, 10) + ", an error of the caller, with status " + strconv.Itoa(s.Status), true
	case !isError || !s.since(allocated):
		return "", false
	case number == -32601 && s.Status != 404, number <= -32020 && number >= -32022 && s.Status != 400:
		return "answers " + strconv.FormatInt(number, 10) + " with status " + strconv.Itoa(s.Status), true
	default:
		return "", false
	}
}

// strayID reports whether the answer does not have the id of the request. null is allowed for raw messages, because their id may be unreadable.
func (s *caseResult) strayID() bool {
	if s.isBareHTTP() {
		return false
	}
	if s.reading.Verdict == contract.VerdictStray {
		return true
	}
	return s.answered() && s.Case.Raw == nil && s.exchange.Request != nil && s.exchange.Request.Kind() == wire.KindRequest &&
		(s.message.ID() == nil || s.message.ID().IsNull()) && s.message.Shape() != wire.KindMalformed
}

// violates reports whether the answer breaks one of the named rules of package contract.
func (s *caseResult) violates(names ...string) bool {
	return slices.ContainsFunc(s.reading.Violations, func(v contract.Violation) bool { return slices.Contains(names, v.Rule) })
}

// since reports whether the protocol version of the session is at least version.
func (s *caseResult) since(version string) bool {
	return s.server != nil && strings.Compare(s.server.Protocol, version) >= 0
}
