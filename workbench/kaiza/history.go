package kaiza

import (
	"encoding/json"

	"github.com/candor-mcp/candor/workbench/workspace"
)

// undoable reports a change of files, as opposed to one of plans, which approve and revoke take back.
func undoable(j workspace.Journal) bool {
	var about note
	_ = json.Unmarshal(j.Note, &about) // without it nothing is known, and nothing is lost
	switch about.Tool {
	case "", "submit_plan", "workbench approve", "workbench revoke":
		return false
	}
	return true
}
