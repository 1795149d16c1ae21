package judge

import "slices"

// The rule sets.
const (
	SetSpec     = "spec"     // only what the MCP specification says
	SetAgent    = "agent"    // what an agent needs in order to go on; the default
	SetKaiza    = "kaiza"    // agent, and every failure is written in this dialect
	SetWorkrail = "workrail" // the same
	SetRPC      = "rpc"      // the same
	SetDual     = "dual"     // the same
	SetCandor   = "candor"   // agent, and the canonical error is attached to every failure
)

// Sets returns the names of the rule sets. The caller owns the slice.
func Sets() []string {
	return []string{SetSpec, SetAgent, SetKaiza, SetWorkrail, SetRPC, SetDual, SetCandor}
}

func known(set string) bool { return slices.Contains(Sets(), set) }
