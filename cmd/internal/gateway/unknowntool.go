package gateway

import (
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/argerror"
	"github.com/candor-mcp/candor/internal/redact"
)

// The gateway does not refuse a tool that is missing from the list: the list may be stale, or omit tools on purpose. The server
// decides, and the gateway adds similar names to its refusal.

// listedNames returns the names of the tools that the caller has listed, or nil if they are unknown.
func (c *Call) listedNames() []string {
	if list := c.tools.current(); list != nil {
		return list.names()
	}
	return nil
}

// isListed reports whether the tool is in the list. A failure that mentions an unknown tool then refers to another one, or the
// list is wrong. In both cases the failure is not changed.
func (c *Call) isListed() bool { return c.tools.tool(c.tool) != nil }

// nameTools adds similar tool names to the error of a server that does not have the tool. If the tool is not in the list, an
// error that only calls the method or the parameters invalid is also taken to mean the tool.
func (c *Call) nameTools(e *candor.Error) *candor.Error {
	if e == nil || !c.IsTool() || c.up.Options.Mode == ModeObserve || c.isListed() {
		return e
	}
	if e.Code() != candor.CodeToolNotFound {
		if !c.refusedByName(e) {
			return e
		}
		e = withCode(e, candor.CodeToolNotFound, true)
	}
	return argerror.WithToolNames(e, c.tool, c.listedNames())
}

// refusedByName reports whether the failure of an unlisted tool reads as if the tool did not exist.
func (c *Call) refusedByName(e *candor.Error) bool {
	if c.tools.current() == nil || len(e.Details().Issues()) > 0 {
		return false
	}
	switch e.Code() {
	case candor.CodeMethodNotFound, candor.CodeInvalidRequestParams:
		return true
	case candor.CodeNotFound, candor.CodeInvalidArguments, candor.CodeUnknownToolFailure:
		numbered := e.Details().Get("said").Get("number").String() == "-32602" // the number that the protocol requires for an unknown tool
		return e.Origin().Inferred && (numbered || c.namedIn(e.Message()))
	default:
		return false
	}
}

// namedIn reports whether a redacted message contains the beginning of the tool's name.
func (c *Call) namedIn(message string) bool {
	const enough = 64
	name := redact.Text(c.tool)
	return name != "" && strings.Contains(message, name[:min(len(name), enough)])
}
