package kaiza

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/plan"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workspace"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
)

// claims holds the arguments that every tool except begin_session accepts.
type claims struct {
	Role    any `json:"role"`
	PhaseID any `json:"phase_id"`
	Plan    any `json:"plan_hash"`
	Path    any `json:"path"`
}

const claimProperties = `"role":{"type":"string","enum":["planner","executor","ANTIGRAVITY","WINDSURF"],"description":"The role you believe to have. Optional; another one than the session's is refused."},
"phase_id":{"type":"string","maxLength":128,"description":"The phase of your work. Optional; it is repeated in errors and in the trail."}`

// withClaims adds the claims to the properties of a tool.
func withClaims(properties string) string {
	properties = strings.TrimSpace(properties)
	if properties == "" || properties == "{}" {
		return "{" + claimProperties + "}"
	}
	return strings.TrimSuffix(properties, "}") + "," + claimProperties + "}"
}

// claimsOf reads the claims of a call. Its arguments may be invalid.
func claimsOf(c *workbench.Call) (read claims) {
	_ = json.Unmarshal(c.Arguments, &read) // unreadable arguments have no claims
	return read
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// gate refuses calls without a session, and calls that are not allowed for a locked session or for the role.
func (k *System) gate(c *workbench.Call) *candor.Error {
	if c.Name == "begin_session" {
		return nil
	}
	if c.Session == nil && c.Stray {
		return candor.New(kaizacode.SessionNotInitialized, "The call names an unknown session, or another one than its connection has.",
			candor.WithOrigin(candor.PartyServer, false),
			candor.WithSuggestion("Give the session_id that begin_session returned, or none where the connection is the session."))
	}
	if c.Session == nil {
		return candor.New(kaizacode.SessionNotInitialized, "", candor.WithOrigin(candor.PartyServer, false))
	}
	claimed := claimsOf(c)
	if role := text(claimed.Role); role != "" && contractRole(role) != contractRole(c.Session.Role) {
		return candor.New(kaizacode.RoleMismatch, "", candor.WithDetails(map[string]any{"role": c.Session.Role}))
	}
	d, err := k.workspaceOf(c.Session)
	if err != nil {
		return candor.From(err)
	}
	lock := d.locked()
	p, err := d.folder.Parse(text(claimed.Path))
	reporting := c.Name == "write_file" && err == nil && inReports(p)
	if lock != nil && !c.Tool.ReadOnly && !reporting {
		return lockedError(lock)
	}
	if slices.Contains(forbidden[contractRole(c.Session.Role)], c.Name) && (lock == nil || !reporting) {
		return candor.New(kaizacode.UnauthorizedAction, "The role "+c.Session.Role+" may not use "+c.Name+".",
			candor.WithDetails(map[string]any{"role": c.Session.Role, "allowed_role": otherRole[c.Session.Role]}))
	}
	return nil
}

func lockedError(l *Lock) *candor.Error {
	details := map[string]any{"locked_by": l.Code, "ref": l.Ref, "tool": l.Tool, "at": l.At, "unlock": "write_file below " + reportsFolder + ", as .md, .txt or .json"}
	if l.Invariant != "" {
		details["invariant"] = l.Invariant
	}
	return candor.New(kaizacode.SessionLocked, "The session is locked because of "+l.Code+", and may only read and report.", candor.WithDetails(details),
		candor.WithSuggestion("Write a failure report below "+reportsFolder+" with write_file, as .md, .txt or .json; that unlocks the session. If you cannot, ask the operator to run candor workbench unlock."))
}

const reportsFolder = plan.ReportsFolder + "/"

// reportKinds lists the extensions of a report: formats that checks do not execute.
var reportKinds = []string{".md", ".txt", ".json"}

// inReports reports whether a path can be written without a plan. Protected names are protected in the reports folder,
// too.
func inReports(p workspace.Path) bool {
	return strings.HasPrefix(p.String(), reportsFolder) && plan.Ordinary(p.String()) && slices.Contains(reportKinds, strings.ToLower(path.Ext(p.String())))
}

// Names of the roles by function. They are aliases of [Planner] and [Executor], which the KAIZA contract names after
// products. A session keeps the name that it began with; rules and locks apply to both names.
const (
	PlannerRole  = "planner"
	ExecutorRole = "executor"
)

// contractRole returns the contract's name of a role.
func contractRole(role string) string {
	return cmp.Or(map[string]string{PlannerRole: Planner, ExecutorRole: Executor}[role], role)
}

// otherRole is the other role, in the same naming.
var otherRole = map[string]string{PlannerRole: ExecutorRole, ExecutorRole: PlannerRole, Planner: Executor, Executor: Planner}

// forbidden lists the tools that a role must not use.
var forbidden = map[string][]string{
	Planner:  {"write_file", "edit_file", "apply_patch", "delete_file", "run_checks"},
	Executor: {"submit_plan"},
}
