package candortest

import (
	"cmp"
	"slices"

	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/probe/rules"
	"github.com/candor-mcp/candor/wire"
)

// The levels of a rule: the source that requires it.
const (
	protocol = "protocol" // JSON-RPC 2.0 and the MCP specification require or recommend it
	manners  = "manners"  // no specification requires it, but every client and model needs it: to answer, to name the invalid field, to leak nothing
)

// Rule is a rule that a check enforces. All texts are for people and may change; the ID is stable.
type Rule struct {
	ID    string   // such as "parse-error"; the name of the subtest
	Title string   // the rule in one sentence
	Level string   // "protocol" if JSON-RPC 2.0 or MCP require it, or "manners" if only clients and models need it
	Why   string   // the consequence of a violation
	Fix   string   // how to fix the server
	Needs string   // the option without which the check is skipped; "" for none
	Eras  []string // the eras in which the rule applies
	Stdio bool     // the check runs over stdio, or another line-based transport
	HTTP  bool     // the check runs over HTTP
}

// Checks returns every rule in the order of the checks. The caller owns the slice.
func Checks() []Rule {
	all := make([]Rule, len(checks))
	for i, c := range checks {
		all[i] = c.Rule
		all[i].Eras = slices.Clone(c.Eras)
	}
	return all
}

// check is a rule with its enforcement, which is one of send, run and wrong.
type check struct {
	Rule
	on     reach
	same   string // the rule of probe whose reason and fix replace missing ones
	since  string // the protocol version that introduced the rule
	offers string // the capability without which the rule has no meaning

	send  []stimulus                   // messages, each of which must get an allowed answer
	ids   bool                         // the answers must be JSON-RPC and carry the id of the request
	run   func(*visit, *client) error  // on a connection after the handshake
	about func(failure) bool           // the failures that wrong judges
	wrong func(*visit, failure) string // returns what is wrong with a failure, "" for nothing
}

// reach is the set of transports over which a check runs.
type reach uint8

const (
	anywhere reach = iota
	overLines
	overHTTP
)

// checks has every check in the order in which they run: the handshake first, because all others need it.
var checks = completed(slices.Concat(openingChecks, framingChecks, idChecks, methodChecks, argumentChecks, silenceChecks,
	failureChecks, leakChecks, loadChecks, httpChecks))

// completed sets the fields of the rules that follow from others.
func completed(all []check) []check {
	for i := range all {
		c := &all[i]
		same := rules.Get(c.same)
		c.Why, c.Fix = cmp.Or(c.Why, same.Reason), cmp.Or(c.Fix, same.Fix)
		c.Stdio, c.HTTP = c.on != overHTTP, c.on != overLines
		if c.Eras == nil {
			c.Eras = eras()
		}
	}
	return all
}

// breaks returns how a failure breaks the rule of probe that the check names.
func breaks(v *visit, f failure) string {
	request := wire.Parse(f.request, wire.Limits{})
	name, _ := request.Params().Path("name").Str()
	seen := &probe.Observation{
		Case:    probe.Case{Tool: name, Group: probe.GroupDomain, Expect: probe.ExpectFailure},
		Request: string(f.request), Response: string(f.Data), Status: f.Status, Outcome: probe.OutcomeAnswered,
	}
	t, _ := v.facts.tool(name)
	return rules.Find(v.same, &probe.Server{Protocol: v.facts.version}, &probe.Tool{Name: name, OutputSchema: t.output}, seen)
}
