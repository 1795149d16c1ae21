package judge

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/wire"
)

// allocated is the protocol version since which error numbers are allotted, and which HTTP status goes with some.
const allocated = "2026-07-28"

// protocolRules: numbers, ids, status, and the channel that the protocol gives to each kind of failure.
var protocolRules = []rule{
	{Rule: probe.Rule{ID: "EC004", Title: "Protocol error where a tool error belongs", Severity: probe.SeverityMajor, Sets: notRPC, Outside: true,
		Reason: "Many clients do not show JSON-RPC errors to the model, so that it can neither mend its call nor choose another way.",
		Clause: "SEP-1303; MCP 2025-11-25, Server Features, Tools, Error Handling: API failures, input validation and business logic are tool execution errors",
		Fix:    "Answer with a result that says isError: true."},
		across: wrongChannel},
	{Rule: probe.Rule{ID: "EC005", Title: "Unknown tool is no protocol error -32602", Severity: probe.SeverityInfo, Sets: everySet, Outside: true,
		Reason: "Clients that go by the number do not learn that their list of tools is old.",
		Clause: "MCP 2025-11-25, Server Features, Tools, Error Handling: an unknown tool is a protocol error; its example has the code -32602",
		Fix:    "Answer with the JSON-RPC error -32602."},
		each: unknownTool},
	{Rule: probe.Rule{ID: "EC006", Title: "Number 0, or none, in a JSON-RPC error", Severity: probe.SeverityMajor, Sets: everySet,
		Reason: "0 is what a program forgets to set; clients take it for no error, or cannot read the answer.",
		Clause: "JSON-RPC 2.0, 5.1: code is a number that indicates the error type that occurred, and MUST be an integer",
		Fix:    "Use a standard number, or one outside -32768 to -32000."},
		each: func(s *sight) (string, bool) {
			return "sends a JSON-RPC error without a sound number", !s.bare() && s.violates("number-zero", wire.FlawBadError.String())
		}},
	{Rule: probe.Rule{ID: "EC007", Title: "Reserved number in a JSON-RPC error", Severity: probe.SeverityMinor, Sets: everySet,
		Reason: "The number may come to mean something else.",
		Clause: "JSON-RPC 2.0, 5.1: codes from -32768 to -32000 are reserved, of which -32000 to -32099 are for the implementation; MCP 2026-07-28, Base Protocol, Error Codes, takes -32020 to -32099 for itself",
		Fix:    "Use a number outside -32768 to -32000."},
		each: func(s *sight) (string, bool) {
			return "uses a number that is reserved", s.violates("reserved-number")
		}},
	{Rule: probe.Rule{ID: "EC008", Title: "Legacy number in a JSON-RPC error", Severity: probe.SeverityMinor, Sets: everySet,
		Reason: "SDKs use these numbers for local errors such as a closed connection: a client cannot tell who speaks.",
		Clause: "MCP 2026-07-28, Base Protocol, Error Codes: new implementations SHOULD NOT use -32000 to -32019",
		Fix:    "Use a number outside -32768 to -32000."},
		each: func(s *sight) (string, bool) {
			return "uses a number of the legacy range", s.since(allocated) && s.violates("legacy-number", "draft-number")
		}},
	{Rule: probe.Rule{ID: "EC009", Title: "Retired number in a JSON-RPC error", Severity: probe.SeverityMinor, Sets: everySet,
		Reason: "Clients of this version do not know it any more.",
		Clause: "MCP 2026-07-28, Base Protocol, Error Codes: implementations MUST NOT emit -32002 and -32042",
		Fix:    "Use -32602 with data.uri for a resource, and input_required for what the user must do."},
		each: func(s *sight) (string, bool) {
			return "uses a number that is retired", s.since(allocated) && s.violates("retired-number")
		}},
	{Rule: probe.Rule{ID: "EC027", Title: "HTTP status and answer do not agree", Severity: probe.SeverityMinor, Sets: everySet,
		Reason: "A client reads one of the two, and ends the session or retries for nothing; plain text under an error status ends whole sessions.",
		Clause: "MCP 2026-07-28, Streamable HTTP: 404 goes with -32601, 400 with -32020, -32021 and -32022; a request is answered as application/json or text/event-stream",
		Fix:    "Send the JSON-RPC error as the body, under the status that goes with its number."},
		each: statusMismatch},
	{Rule: probe.Rule{ID: "EC028", Title: "Answer under another id", Severity: probe.SeverityCritical, Sets: everySet, Outside: true,
		Reason: "The client waits for an answer that never comes, or gives it to another call.",
		Clause: "JSON-RPC 2.0, 5: id MUST be the same as the value of the id member in the request; MCP, Base Protocol, Responses, says the same",
		Fix:    "Answer under the very id of the request, also after a panic."},
		each: func(s *sight) (string, bool) {
			return "answers under an id that is not the call's", s.strayID()
		}},
	{Rule: probe.Rule{ID: "EC039", Title: "Malformed answer", Severity: probe.SeverityMajor, Sets: everySet,
		Reason: "Strict clients drop it and wait for ever; lenient ones guess.",
		Clause: "JSON-RPC 2.0, 5; MCP schema, CallToolResult: isError is a boolean, result is an object",
		Fix:    "Validate every message against the schema of the protocol before it is sent."},
		each: func(s *sight) (string, bool) {
			for _, v := range s.reading.Violations { // of an answer that was cut by us, what is missing is not the server's fault
				if malforms(v.Rule) && s.Outcome == probe.OutcomeAnswered && s.Size == 0 {
					return "sends an answer that is not sound (" + v.Rule + ")", true
				}
			}
			return "", false
		}},
}

// wrongChannel: the gateway refuses bad arguments itself, and tells the errors of a tool as results if its profile says so; what has a number of
// the protocol it leaves as it is.
func wrongChannel(p *party) []hit {
	var out []hit
	for _, s := range p.sights {
		own := s.fixable() || s.Case.Group == probe.GroupDomain || s.Case.Group == probe.GroupUpstream
		if own && s.label() == LabelProtocol {
			out = append(out, hit{s: s, what: "tells a failure of its own as a JSON-RPC error", unmendable: !s.fixable() && s.violates("reserved-number")})
		}
	}
	return out
}

// fixable reports a call whose arguments are an object, so that it is the tool's to refuse.
func (s *sight) fixable() bool {
	if s.Case.Group != probe.GroupValidation || s.Case.Expect != probe.ExpectRefusal {
		return false
	}
	switch s.Case.Name {
	case probe.CaseArgsArray, probe.CaseArgsString, probe.CaseArgsNull, probe.CaseArgsAbsent:
		return false
	default:
		return true
	}
}

func unknownTool(s *sight) (string, bool) {
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

// malforms are the violations that no rule of its own is about.
func malforms(name string) bool {
	switch name {
	case "bad-is-error", "null-result", "legacy-tool-result":
		return true
	}
	flaw, ok := wire.ParseFlaw(name)
	return ok && flaw != wire.FlawNone && flaw != wire.FlawBadError && flaw != wire.FlawNullID && flaw != wire.FlawMissingID && flaw != wire.FlawBatch
}

func statusMismatch(s *sight) (string, bool) {
	if s.Status == 0 || s.Case.Raw != nil || s.Case.Group == probe.GroupLiveness || s.Size > 0 {
		return "", false
	}
	number, isError := s.message.Error().Path("code").Int64()
	switch {
	case s.bare(), s.Status >= http.StatusBadRequest && s.Response != "" && s.message.Shape() == wire.KindMalformed:
		return "answers status " + strconv.Itoa(s.Status) + " without a JSON-RPC body", true
	case isError && s.Status >= 500 && number >= -32700 && number <= -32600 && number != -32603:
		return "answers " + strconv.FormatInt(number, 10) + ", a fault of the caller, under status " + strconv.Itoa(s.Status), true
	case !isError || !s.since(allocated):
		return "", false
	case number == -32601 && s.Status != 404, number <= -32020 && number >= -32022 && s.Status != 400:
		return "answers " + strconv.FormatInt(number, 10) + " under status " + strconv.Itoa(s.Status), true
	default:
		return "", false
	}
}

// strayID: null is for requests whose id cannot be read, which those that are sent as they are may be.
func (s *sight) strayID() bool {
	if s.bare() {
		return false
	}
	if s.reading.Verdict == contract.VerdictStray {
		return true
	}
	return s.answered() && s.Case.Raw == nil && s.exchange.Request != nil && s.exchange.Request.Kind() == wire.KindRequest &&
		(s.message.ID() == nil || s.message.ID().IsNull()) && s.message.Shape() != wire.KindMalformed
}

// violates reports whether the form of the answer breaks one of the rules of contract.
func (s *sight) violates(names ...string) bool {
	for _, v := range s.reading.Violations {
		for _, name := range names {
			if v.Rule == name {
				return true
			}
		}
	}
	return false
}

// since reports whether the session speaks a version of the protocol or a later one.
func (s *sight) since(version string) bool {
	return s.server != nil && strings.Compare(s.server.Protocol, version) >= 0
}
