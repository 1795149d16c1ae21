package dual

import (
	"slices"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	dualcode "github.com/candor-mcp/candor/codes/dual"
)

// Access selects the tools that a server allows.
type Access string

// The kinds of access.
const (
	AccessFull     Access = "full"     // all tools
	AccessReadOnly Access = "readonly" // tools that change nothing
	AccessMinimal  Access = "minimal"  // server_ping and server_health
)

// Accesses returns all kinds of access. The caller owns the slice.
func Accesses() []Access { return []Access{AccessFull, AccessReadOnly, AccessMinimal} }

// Valid reports whether a is one of the kinds.
func (a Access) Valid() bool { return slices.Contains(Accesses(), a) }

// admits reports whether a tool may be called.
func (a Access) admits(t *workbench.Tool) bool {
	switch a {
	case AccessReadOnly:
		return t.ReadOnly
	case AccessMinimal:
		return t.Name == "server_ping" || t.Name == "server_health"
	default:
		return true
	}
}

// admit refuses calls of tools that the access does not allow. It runs before the arguments are read, and the trail
// records the call as denied.
func (s *System) admit(c *workbench.Call) *candor.Error {
	if c.Tool == nil || s.o.Access.admits(c.Tool) {
		return nil
	}
	return candor.New(dualcode.ToolNotAdmitted, "", candor.WithOrigin(candor.PartyServer, false),
		candor.WithDetails(map[string]any{"tool": c.Name, "access": string(s.o.Access)}))
}
