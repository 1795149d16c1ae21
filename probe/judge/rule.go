package judge

import "github.com/candor-mcp/candor/probe"

// Rules returns all rules, by id. The caller owns the slice.
func Rules() []probe.Rule { return nil }
