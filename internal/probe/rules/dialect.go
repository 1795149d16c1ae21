package rules

import (
	"slices"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/wire"
)

// dialectSpec is the dialect that a rule set requires.
type dialectSpec struct {
	names  []string // accepted dialects
	domain string   // of its codes
	code   [][]any  // paths of its code in the envelope
}

var dialectSpecs = map[string]dialectSpec{
	SetKaiza:    {[]string{"system-error"}, "kaiza", [][]any{{"error_code"}}},
	SetWorkrail: {[]string{"tool-error"}, "workrail", [][]any{{"code"}}},
	SetDual:     {[]string{"dual", "dual-unified"}, "dual", [][]any{{"error", "code"}, {"data", "error", "code"}}},
	SetRPC:      {[]string{"rpc"}, "", [][]any{{"data", "symbol"}}},
}

// dialectRules check that failures are in the dialect of the rule set.
var dialectRules = []rule{
	{Rule: probe.Rule{ID: "EC040", Title: "Failure in another dialect", Severity: probe.SeverityMajor, Sets: dialectSet, Outside: true,
		Reason: "A client that reads this dialect cannot read the failure.",
		Clause: "The contract that the rule set is named after",
		Fix:    "Write every tool failure in the dialect."},
		what: "fails in another dialect than the rule set requires",
		when: func(s *caseResult) bool { return s.isToolFailure() && !s.usesDialect() }},
	{Rule: probe.Rule{ID: "EC041", Title: "Envelope does not conform to the dialect", Severity: probe.SeverityMajor, Sets: dialectSet,
		Reason: "A strict reader rejects it: a member is missing, has another type, or is out of order.",
		Clause: "The contract that the rule set is named after; for kaiza, eleven members in a fixed order, null where nothing is known",
		Fix:    "Write all members of the dialect in its order."},
		what: "writes an envelope that does not conform to its dialect",
		when: func(s *caseResult) bool {
			return s.isToolFailure() && s.usesDialect() && s.registered() && !s.wellFormed()
		}},
	{Rule: probe.Rule{ID: "EC042", Title: "Unregistered code", Severity: probe.SeverityMajor, Sets: dialectSet,
		Reason: "The code is not in the catalogue, so its meaning cannot be looked up.",
		Clause: "The catalogue of codes of the contract that the rule set is named after",
		Fix:    "Use a registered code, or register this one."},
		what: "fails with an unregistered code",
		when: func(s *caseResult) bool { return s.isToolFailure() && s.usesDialect() && !s.registered() }},
	{Rule: probe.Rule{ID: "EC043", Title: "Canonical error missing", Severity: probe.SeverityMajor, Sets: candorSet, Outside: true,
		Reason: "A client that reads the canonical error finds none.",
		Clause: "Candor error contract: _meta[\"dev.candor/error\"] of a result, data[\"dev.candor/error\"] of a JSON-RPC error",
		Fix:    "Attach the canonical error to every failure."},
		what: "fails without the canonical error",
		when: func(s *caseResult) bool {
			_, attached := dialect.Embedded(s.message.Value())
			// Data that is exactly {"uri": …} means to clients that a resource does not exist; nothing may be added to it.
			data := s.message.Error().Path("data")
			return s.reported() && !attached && (!data.Path("uri").Present() || data.Len() != 1)
		}},
	{Rule: probe.Rule{ID: "EC044", Title: "Canonical error cannot be read", Severity: probe.SeverityMajor, Sets: agentSets,
		Reason: "It is attached, but readers of the contract reject it.",
		Clause: "Candor error contract: the code is registered, class, domain and number are the catalogue's, retry is of the closed set",
		Fix:    "Write it with a library of the contract, and check it against spec/."},
		what: "attaches a canonical error that cannot be read",
		when: func(s *caseResult) bool {
			own, attached := dialect.Embedded(s.message.Value())
			return attached && dialect.CheckCandor(own) != nil
		}},
}

// driftRules have no check here: they are found by comparing two reports.
var driftRules = []rule{
	{Rule: probe.Rule{ID: "EC030", Title: "Worse than the baseline", Severity: probe.SeverityMajor, Sets: agentSets,
		Reason: "Clients rely on how the server failed before.",
		Clause: "Evidence: the report that was given as the baseline",
		Fix:    "Restore the previous behaviour, or use the new report as the baseline."}},
}

// isToolFailure reports whether the case is a reported failure of a tool. Dialects do not cover errors of the protocol.
func (s *caseResult) isToolFailure() bool { return s.Case.Tool != "" && s.reported() }

func (s *caseResult) usesDialect() bool {
	return slices.Contains(dialectSpecs[s.set].names, s.facts().dialect)
}

// envelope returns the value that holds the dialect: the JSON-RPC error, the first text, or structuredContent.
func (s *caseResult) envelope() wire.Value {
	if e := s.message.Error(); e.Present() {
		return e
	}
	if v := s.payload(); v.Type() == wire.TypeObject {
		return v
	}
	structured, _ := s.message.ResultMember("structuredContent")
	return structured
}

func (s *caseResult) registered() bool {
	want := dialectSpecs[s.set]
	for _, path := range want.code {
		if symbol, ok := s.envelope().Path(path...).Str(); ok {
			_, known := candor.LookupSymbol(symbol, want.domain)
			return known
		}
	}
	if number, ok := s.envelope().Path("code").Int64(); ok && s.set == SetRPC {
		known := candor.Code(number).Valid()
		return known
	}
	return true // a missing code is covered by wellFormed
}

// kaizaMembers lists the members of the kaiza envelope in order.
var kaizaMembers = []string{"error_code", "human_message", "role", "session_id", "workspace_root", "tool_name", "invariant_id", "phase_id", "plan_hash", "cause", "timestamp"}

func (s *caseResult) wellFormed() bool {
	d, err := dialect.Lookup(s.facts().dialect)
	if err != nil {
		return false
	}
	if _, err := d.Read(s.message.Value()); err != nil {
		return false
	}
	envelope := s.envelope()
	switch s.set {
	case SetKaiza:
		return inOrder(envelope, kaizaMembers)
	case SetWorkrail:
		return envelope.Path("message").Type() == wire.TypeString && envelope.Path("retry", "kind").Type() == wire.TypeString
	case SetRPC:
		data := envelope.Path("data")
		return data.Path("domain").Type() == wire.TypeString && data.Path("symbol").Type() == wire.TypeString && data.Path("retryable").Type() == wire.TypeBool
	case SetDual:
		return envelope.Path("error", "message").Type() == wire.TypeString || envelope.Path("data", "error", "message").Type() == wire.TypeString
	default:
		return true
	}
}

// inOrder reports whether v begins with the named members in order. Others, such as a stack, may follow.
func inOrder(v wire.Value, names []string) bool {
	i := 0
	for name := range v.Members() {
		if i < len(names) && !name.Is(names[i]) {
			return false
		}
		i++
	}
	return i >= len(names)
}
