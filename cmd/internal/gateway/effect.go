package gateway

import (
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
)

// mayRepeat reports whether the called tool is declared read-only or idempotent.
func (c *Call) mayRepeat() bool {
	t := c.tools.tool(c.tool)
	return t != nil && (t.readOnly || t.again)
}

// careful returns the error of a call that reached the server, with advice that cannot cause a second effect.
func (c *Call) careful(e *candor.Error) *candor.Error {
	if e == nil || !c.IsTool() || c.mayRepeat() {
		return e
	}
	return contract.AvoidSecondEffect(e)
}

// InterruptedError returns the error for a call that reached the server and is abandoned because the gateway shuts down.
func (c *Call) InterruptedError() *candor.Error {
	e := DrainingError()
	if !c.IsTool() || c.mayRepeat() {
		return e
	}
	return e.With(candor.WithRetry(candor.NoRetry()), candor.WithMessage("The gateway is shutting down and did not wait for the answer."),
		candor.WithSuggestion(contract.CheckEffect))
}

// asksForCheck reports whether an error suggests to check if the call took effect.
func asksForCheck(e *candor.Error) bool {
	return !e.Retry().Retryable() && strings.HasPrefix(e.Suggestion(), contract.CheckEffect)
}
