package gateway

import (
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// Mode observe touches nothing: the client gets what it would get of its server without us. But lost calls are answered in every mode,
// and a call is lost whose answer nobody could take for one: bytes that are not JSON, a batch, what is too large or too deep, what has
// neither result nor error, or is a request as well. Whatever else is wrong with an answer is recorded, and it passes.

// MayPass reports an answer that observe passes on though something is wrong with it.
func (c *Call) MayPass(m *wire.Message) bool {
	grave := m.Flaws().Without(wireflaw.BadVersion, wireflaw.BadError, wireflaw.ResultAndError, wireflaw.DuplicateKey, wireflaw.FoldedName)
	return c.up.Options.Mode == ModeObserve && grave.Empty() && m.ID().Equal(c.id) && m.Method() == nil &&
		(m.Result().Present() || m.Error().Present())
}
