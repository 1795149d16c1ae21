package boundary

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

// flawError says what is wrong with a message that a client sent, nil if nothing is. It never quotes the message. Params of a
// wrong type are no flaw here: the SDK answers those itself.
func flawError(m *wire.Message) *candor.Error {
	if m.Flaws().Without(wire.FlawBadParams).Empty() {
		return nil
	}
	flaw := m.Malformation()
	return candor.New(flawCode(flaw.Flaw), "", candor.WithOrigin(candor.PartyServer, false),
		candor.WithDetails(map[string]any{"flaw": flaw.Flaw.String(), "offset": flaw.Offset, "reason": flaw.Flaw.Reason()}))
}

func flawCode(f wire.Flaw) candor.Code {
	switch f {
	case wire.FlawTooLarge:
		return candor.CodeMessageTooLarge
	case wire.FlawTooDeep:
		return candor.CodeMessageTooDeep
	case wire.FlawBatch:
		return candor.CodeBatchUnsupported
	case wire.FlawNotJSON, wire.FlawTruncated, wire.FlawTrailingData, wire.FlawBOM, wire.FlawControlCharacter, wire.FlawBadUTF8:
		return candor.CodeParseError
	}
	return candor.CodeInvalidRequest
}

// answerID is the id to answer a flawed message with: none to what could not be read, and none to what is itself an answer,
// whose id is one of ours.
func answerID(m *wire.Message, code candor.Code) wire.ID {
	answers := m.Method() == nil && (m.Result().Present() || m.Error().Present())
	if code == candor.CodeParseError || answers || m.ID().IsNull() {
		return nil
	}
	return m.ID()
}
