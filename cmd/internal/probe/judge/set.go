package judge

import "slices"

// The rule sets.
const (
	SetSpec     = "spec"     // only what the MCP specification says
	SetAgent    = "agent"    // what an agent needs in order to go on; the default
	SetKaiza    = "kaiza"    // agent, and every failure of a tool is written in the dialect system-error
	SetWorkrail = "workrail" // agent, and tool-error
	SetRPC      = "rpc"      // agent, and rpc
	SetDual     = "dual"     // agent, and dual or dual-unified
	SetCandor   = "candor"   // agent, and the canonical error is attached to every failure
)

// Sets returns the names of the rule sets. The caller owns the slice.
func Sets() []string {
	return []string{SetSpec, SetAgent, SetKaiza, SetWorkrail, SetRPC, SetDual, SetCandor}
}

func known(set string) bool { return slices.Contains(Sets(), set) }

var (
	everySet   = Sets()
	agentSets  = Sets()[1:]
	dialectSet = []string{SetKaiza, SetWorkrail, SetRPC, SetDual}
	candorSet  = []string{SetCandor}
	// notRPC: a server that speaks the numeric taxonomy tells everything as a JSON-RPC error, on purpose.
	notRPC = []string{SetSpec, SetAgent, SetKaiza, SetWorkrail, SetDual, SetCandor}
)
