package kaiza

import (
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

// claims are the arguments that say who calls and for what. Every tool but begin_session takes them.
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

// claimsOf reads the claims as far as they can be read: the arguments may be anything at all.
func claimsOf(c *workbench.Call) (read claims) {
	_ = json.Unmarshal(c.Arguments, &read) // what cannot be read claims nothing
	return read
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// gate refuses what no session, a locked one or one of this role may do.
func (k *System) gate(c *workbench.Call) *candor.Error {
	if c.Name == "begin_session" {
		return nil
	}
	if c.Session == nil && c.Stray {
		return candor.New(kaizacode.SessionNotInitialized, "The session that the call names is not known here, or is not that of its connection.",
			candor.WithOrigin(candor.PartyServer, false),
			candor.WithSuggestion("Give the session_id that begin_session returned, or none where the connection is the session."))
	}
	if c.Session == nil {
		return candor.New(kaizacode.SessionNotInitialized, "", candor.WithOrigin(candor.PartyServer, false))
	}
	claimed := claimsOf(c)
	if role := text(claimed.Role); role != "" && kindOf(role) != kindOf(c.Session.Role) {
		return candor.New(kaizacode.RoleMismatch, "", candor.WithDetails(map[string]any{"role": c.Session.Role}))
	}
	d, err := k.desk(c.Session)
	if err != nil {
		return candor.From(err)
	}
	lock := d.locked()
	reporting := c.Name == "write_file" && isReport(d.folder, text(claimed.Path))
	if lock != nil && !c.Tool.ReadOnly && !reporting {
		return lockedError(lock)
	}
	if slices.Contains(forbidden[kindOf(c.Session.Role)], c.Name) && (lock == nil || !reporting) {
		return candor.New(kaizacode.UnauthorizedAction, "The role "+c.Session.Role+" may not use "+c.Name+".",
			candor.WithDetails(map[string]any{"role": c.Session.Role, "allowed_role": otherRole(c.Session.Role)}))
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

// isReport reports a path that lies below the folder of reports.
func isReport(f *workspace.Folder, name string) bool {
	p, err := f.Parse(name)
	return err == nil && inReports(p)
}

// reportKinds are the names that a report may end in: something to read, and nothing that a check would run.
var reportKinds = []string{".md", ".txt", ".json"}

// inReports reports a path that needs no plan. Names that are guarded elsewhere are guarded here, too.
func inReports(p workspace.Path) bool {
	return strings.HasPrefix(p.String(), reportsFolder) && plan.Ordinary(p.String()) && slices.Contains(reportKinds, strings.ToLower(path.Ext(p.String())))
}
