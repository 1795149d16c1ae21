package judge

import (
	"slices"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// tongue is the dialect that a rule set asks for.
type tongue struct {
	names  []string // of the dialects that will do
	domain string   // of its codes
	code   [][]any  // where its code may stand in the envelope
}

var tongues = map[string]tongue{
	SetKaiza:    {[]string{"system-error"}, "kaiza", [][]any{{"error_code"}}},
	SetWorkrail: {[]string{"tool-error"}, "workrail", [][]any{{"code"}}},
	SetDual:     {[]string{"dual", "dual-unified"}, "dual", [][]any{{"error", "code"}, {"data", "error", "code"}}},
	SetRPC:      {[]string{"rpc"}, "", [][]any{{"data", "symbol"}}},
}

// dialectRules: a server that promises a dialect keeps to it.
var dialectRules = []rule{
	{Rule: probe.Rule{ID: "EC040", Title: "Failure in another dialect", Severity: probe.SeverityMajor, Sets: dialectSet, Outside: true,
		Reason: "A client that reads this dialect cannot read the failure.",
		Clause: "The contract that the rule set is named after",
		Fix:    "Write every failure of a tool in the dialect."},
		each: func(s *sight) (string, bool) {
			return "fails in another dialect than was promised", s.ownTongue() && !s.speaks()
		}},
	{Rule: probe.Rule{ID: "EC041", Title: "Envelope is not as the dialect wants it", Severity: probe.SeverityMajor, Sets: dialectSet,
		Reason: "A strict reader refuses it: a member is missing, of another type, or out of order.",
		Clause: "The contract that the rule set is named after; for kaiza, eleven members in a fixed order, null where nothing is known",
		Fix:    "Write all members of the dialect, in its order."},
		each: func(s *sight) (string, bool) {
			return "writes an envelope that its dialect does not allow", s.ownTongue() && s.speaks() && s.registered() && !s.wellFormed()
		}},
	{Rule: probe.Rule{ID: "EC042", Title: "Code is not registered", Severity: probe.SeverityMajor, Sets: dialectSet,
		Reason: "Nobody can look up what it means.",
		Clause: "The catalogue of codes of the contract that the rule set is named after",
		Fix:    "Use a registered code, or register this one."},
		each: func(s *sight) (string, bool) {
			return "fails with a code that is not registered", s.ownTongue() && s.speaks() && !s.registered()
		}},
	{Rule: probe.Rule{ID: "EC043", Title: "Canonical error missing", Severity: probe.SeverityMajor, Sets: candorSet, Outside: true,
		Reason: "A client that reads the canonical error finds none.",
		Clause: "Candor error contract: _meta[\"dev.candor/error\"] of a result, data[\"dev.candor/error\"] of a JSON-RPC error",
		Fix:    "Attach the canonical error to every failure."},
		each: func(s *sight) (string, bool) {
			_, attached := dialect.Embedded(s.message.Value())
			// Data that are exactly a uri are how clients know that a resource does not exist: nothing may stand beside it.
			data := s.message.Error().Path("data")
			return "fails without the canonical error", s.told() && !attached && (!data.Path("uri").Present() || data.Len() != 1)
		}},
	{Rule: probe.Rule{ID: "EC044", Title: "Canonical error cannot be read", Severity: probe.SeverityMajor, Sets: agentSets,
		Reason: "It is there, and no reader of the contract accepts it.",
		Clause: "Candor error contract: the code is registered, class, domain and number are the catalogue's, retry is of the closed set",
		Fix:    "Write it with a library of the contract, and check it against spec/."},
		each: func(s *sight) (string, bool) {
			own, attached := dialect.Embedded(s.message.Value())
			if !attached {
				return "", false
			}
			return "attaches a canonical error that cannot be read", dialect.CheckCandor(own) != nil
		}},
}

// driftRules are found by comparing two reports, which needs more than a run.
var driftRules = []rule{
	{Rule: probe.Rule{ID: "EC030", Title: "Worse than the baseline", Severity: probe.SeverityMajor, Sets: agentSets,
		Reason: "Clients have come to rely on how the server failed.",
		Clause: "Evidence: the report that was given as the baseline",
		Fix:    "Restore the former behaviour, or accept the new one as the baseline."}},
}

// ownTongue reports a told failure of a tool: the dialects say nothing about the protocol's own errors.
func (s *sight) ownTongue() bool { return s.Case.Tool != "" && s.told() }

func (s *sight) speaks() bool { return slices.Contains(tongues[s.set].names, s.facts().dialect) }

// envelope is where the dialects write: the first text, structuredContent, or the JSON-RPC error.
func (s *sight) envelope() wire.Value {
	if e := s.message.Error(); e.Present() {
		return e
	}
	if v := s.payload(); v.Type() == wire.TypeObject {
		return v
	}
	structured, _ := s.message.ResultMember("structuredContent")
	return structured
}

func (s *sight) registered() bool {
	want := tongues[s.set]
	for _, path := range want.code {
		if symbol, ok := s.envelope().Path(path...).Str(); ok {
			_, known := candor.LookupSymbol(symbol, want.domain)
			return known
		}
	}
	if number, ok := s.envelope().Path("code").Int64(); ok && s.set == SetRPC {
		_, known := candor.LookupNumber(int(number))
		return known
	}
	return true // no code at all is a matter of form
}

// eleven are the members of the kaiza envelope, in their order.
var eleven = []string{"error_code", "human_message", "role", "session_id", "workspace_root", "tool_name", "invariant_id", "phase_id", "plan_hash", "cause", "timestamp"}

func (s *sight) wellFormed() bool {
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
		return inOrder(envelope, eleven)
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

// inOrder: a member may follow, for a stack.
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
