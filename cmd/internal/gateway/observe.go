package gateway

import (
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// Observe mode changes no answer: the client gets the same bytes as without the gateway. Lost calls are still answered by the
// gateway in every mode. A call is lost if its answer cannot be read as one: it is not JSON, a batch, too large, too deep, has
// neither result nor error, or is also a request. Any other flaw is recorded, and the answer is passed on.

// MayPass reports whether observe mode passes on a flawed answer.
func (c *Call) MayPass(m *wire.Message) bool {
	grave := m.Flaws().Without(wireflaw.BadVersion, wireflaw.BadError, wireflaw.ResultAndError, wireflaw.DuplicateKey, wireflaw.FoldedName)
	return c.up.Options.Mode == ModeObserve && grave.Empty() && m.ID().Equal(c.id) && m.Method() == nil &&
		(m.Result().Present() || m.Error().Present())
}
