package candortest

import "slices"

// Level is the source that requires a rule. Each level includes the ones before it.
type Level uint8

// The levels.
const (
	// Protocol has the rules that JSON-RPC 2.0 and the MCP specification require or recommend.
	Protocol Level = iota + 1
	// Manners has rules that no specification requires but every client and model needs: to keep running, to answer, to name
	// the invalid field, to leak nothing.
	Manners
	// Contract has the rules of Candor's contract: the envelope, registered codes, retry advice, a readable first block.
	Contract
)

// String returns the level's name in lower case.
func (l Level) String() string {
	switch l {
	case Protocol:
		return "protocol"
	case Manners:
		return "manners"
	case Contract:
		return "contract"
	default:
		return "unknown"
	}
}

// Rule is a rule that a check enforces. All texts are for people and may change; the ID is stable.
type Rule struct {
	ID    string // such as "parse-error"; the name of the subtest
	Title string // the rule in one sentence
	Level Level
	Why   string // the consequence of a violation
	Want  string // what a correct answer looks like
	Fix   string // how to fix the server
	Needs string // the option without which the check is skipped; "" for none
	Eras  []Era  // the eras in which the rule applies
	Stdio bool   // the check runs over stdio, or another line-based transport
	HTTP  bool   // the check runs over HTTP
}

// Checks returns every rule in the order of the checks. The caller owns the slice.
func Checks() []Rule {
	rules := make([]Rule, len(checks))
	for i, c := range checks {
		rules[i] = c.Rule
		rules[i].Eras = c.eras()
		rules[i].Stdio, rules[i].HTTP = c.on != overHTTP, c.on != overLines
	}
	return rules
}

// check is a rule with the code that enforces it.
type check struct {
	Rule
	on  reach
	run func(*visit) ruling
}

// reach is the set of transports over which a check runs.
type reach uint8

const (
	anywhere reach = iota
	overLines
	overHTTP
)

func (c *check) eras() []Era {
	if c.Eras == nil {
		return Eras()
	}
	return slices.Clone(c.Eras)
}

// checks has every check in the order in which they run: the handshake first, because all others need it.
var checks = slices.Concat(openingChecks, framingChecks, idChecks, methodChecks, argumentChecks, silenceChecks,
	failureChecks, numberChecks, leakChecks, loadChecks, httpChecks, contractChecks)

// ruling is the result of a check.
type ruling struct {
	failed  string // the problem, "" if there is none
	skipped string // what the check lacks, "" if nothing
}
