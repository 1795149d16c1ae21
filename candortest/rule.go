package candortest

import "slices"

// Level says who demands a rule. Each includes the ones before it.
type Level uint8

// The levels.
const (
	// Protocol is what JSON-RPC 2.0 and the MCP specification say a server must or should do.
	Protocol Level = iota + 1
	// Manners is what no specification demands and every client and model needs: to survive, to answer, to name the
	// field, to leak nothing.
	Manners
	// Contract is Candor's own contract: the envelope, registered codes, retry advice, a readable first block.
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

// Rule is what a check enforces. All texts are for people and may change; the ID is stable.
type Rule struct {
	ID    string // such as "parse-error"; the name of the subtest
	Title string // the rule in one sentence
	Level Level
	Why   string // what goes wrong when it is broken
	Want  string // what the right answer looks like
	Fix   string // what to do in the server
	Needs string // the option without which the check is skipped; "" for none
	Eras  []Era  // where the rule holds
	Stdio bool   // the check is made over stdio, or another transport of lines
	HTTP  bool   // the check is made over HTTP
}

// Checks returns every rule in the order they are checked. The caller owns the slice.
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

// reach says over which transports a check is made.
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

// checks is every check in the order they are made: the handshake first, because all others need it.
var checks = slices.Concat(openingChecks, framingChecks, idChecks, methodChecks, argumentChecks, silenceChecks,
	failureChecks, numberChecks, leakChecks, loadChecks, httpChecks, contractChecks)

// ruling is what a check concluded.
type ruling struct {
	failed  string // what was wrong, "" if nothing
	skipped string // what was missing, "" if nothing
}
