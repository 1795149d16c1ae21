package judge

import (
	"fmt"
	"strings"

	"github.com/candor-mcp/candor/probe"
)

// Judge holds a run against a rule set, one of [Sets]; "" is the default, agent. It is pure: the same run gives the same report. The error
// names a set that does not exist; no run is refused.
func Judge(run *probe.Run, set string) (*probe.Report, error) {
	if set == "" {
		set = SetAgent
	}
	if !known(set) {
		return nil, fmt.Errorf("unknown rule set %q: there are %s", set, strings.Join(Sets(), ", "))
	}
	return &probe.Report{Version: probe.ReportVersion, Begun: run.Begun, Seed: run.Seed, Rules: set, Server: run.Server,
		Skipped: run.Skipped, Incomplete: run.Incomplete}, nil
}
