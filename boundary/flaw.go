package boundary

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/teach"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// flawError says what is wrong with a message that a client sent, nil if nothing is. Params of a wrong type are no flaw here:
// the SDK answers those itself.
func flawError(m *wire.Message) *candor.Error {
	if m.Flaws().Without(wireflaw.BadParams).Empty() {
		return nil
	}
	return teach.Flaw(m.Malformation(), candor.PartyServer)
}
