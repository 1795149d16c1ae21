package kaiza

import (
	"slices"

	"github.com/candor-mcp/candor/cmd/internal/workbench"
)

// The roles by what they do. Each is the same as the one that the KAIZA contract names after a product: [Planner] and [Executor]. A session keeps
// the name that it was begun with, and rules and locks hold for both names.
const (
	PlannerRole  = "planner"
	ExecutorRole = "executor"
)

// kindOf returns the contract's name of a role.
func kindOf(role string) string {
	switch role {
	case PlannerRole:
		return Planner
	case ExecutorRole:
		return Executor
	}
	return role
}

// otherRole returns the role that may do what this one may not, named in the same way.
func otherRole(role string) string {
	switch role {
	case PlannerRole:
		return ExecutorRole
	case ExecutorRole:
		return PlannerRole
	case Planner:
		return Executor
	}
	return Planner
}

// forbidden says which tools a role may not use.
var forbidden = map[string][]string{
	Planner:  {"write_file", "apply_patch", "move_file", "delete_file", "make_dir", "set_executable"},
	Executor: {"submit_plan"},
}

// lists reports whether a session is shown a tool. A planner sees write_file although it may use it only for the report that lifts a lock.
func (k *System) lists(s *workbench.Session, tool string) bool {
	return tool == "write_file" || !slices.Contains(forbidden[kindOf(s.Role)], tool)
}
