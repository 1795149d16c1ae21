package gateway

import (
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/internal/teach"
	"github.com/candor-mcp/candor/wire"
)

// A tool that the list does not name is not refused by the gateway: the list may be stale, or leave tools out on purpose. The server
// decides, and its refusal is completed with the names that were probably meant.

// listedNames returns the names of the tools that the caller was sent, nil if they are not known.
func (c *Call) listedNames() []string {
	if list := c.tools.current(); list != nil {
		return list.names()
	}
	return nil
}

// isListed reports a tool that is in the list. A failure that mentions an unknown tool then means another one, or the
// list is wrong: it is not changed.
func (c *Call) isListed() bool {
	list := c.tools.current()
	return list != nil && list.tools[c.tool] != nil
}

// nameTools returns the error of a server that has no such tool with the names that were probably meant. A server that only says that
// the method or the parameters are wrong means the tool, if that is not in its list.
func (c *Call) nameTools(e *candor.Error) *candor.Error {
	if e == nil || !c.IsTool() || c.up.Options.Mode == ModeObserve || c.isListed() {
		return e
	}
	if e.Code() != candor.CodeToolNotFound {
		if !c.refusedByName(e) {
			return e
		}
		e = candor.New(candor.CodeToolNotFound, e.Message(), candor.WithOrigin(e.Origin().By, true), candor.WithDetails(e.Details()),
			candor.WithRef(e.Ref()), candor.WithTime(e.Time()), candor.WithCallInfo(e.CallInfo()), candor.WithCauseText(e.Cause()))
	}
	return teach.WithToolNames(e, c.tool, c.listedNames())
}

// refusedByName reports a failure of a tool that is not listed which reads as if there were no such tool.
func (c *Call) refusedByName(e *candor.Error) bool {
	if c.tools.current() == nil || len(e.Details().Issues()) > 0 {
		return false
	}
	switch e.Code() {
	case candor.CodeMethodNotFound, candor.CodeInvalidRequestParams:
		return true
	case candor.CodeNotFound, candor.CodeInvalidArguments, candor.CodeUnknownToolFailure:
		numbered := e.Details().Get("said").Get("number").String() == "-32602" // which the protocol wants for an unknown tool
		return e.Origin().Inferred && (numbered || c.namedIn(e.Message()))
	default:
		return false
	}
}

// namedIn reports whether a message, from which secrets were taken, holds the beginning of the tool's name.
func (c *Call) namedIn(message string) bool {
	const enough = 64
	name := redact.Text(c.tool)
	return name != "" && strings.Contains(message, name[:min(len(name), enough)])
}

// withToolNames adds the similar names to the message of a JSON-RPC error for an unknown tool: many clients show their
// model only the message.
func (c *Call) withToolNames(answer []byte, e *candor.Error) []byte {
	if !c.IsTool() || e.Code() != candor.CodeToolNotFound || c.isListed() {
		return answer
	}
	m := wire.Parse(answer, wire.Limits{AllowLoneSurrogates: true})
	said, ok := m.Error().Path("message").Str()
	if m.Shape() != wire.KindError || !ok {
		return answer
	}
	message := teach.UnknownToolMessage(said, c.tool, c.listedNames())
	out, err := splice.SetMember(nil, answer, []string{"error", "message"}, wire.AppendString(nil, message))
	if err != nil {
		return answer
	}
	return out
}
