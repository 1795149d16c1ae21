package teach

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// Flaw returns the error for bytes that are not a message. It never quotes them.
func Flaw(flaw wire.Malformation, by candor.Party) *candor.Error {
	return candor.New(flawCode(flaw.Flaw), "", candor.WithOrigin(by, false),
		candor.WithDetails(map[string]any{"flaw": flaw.Flaw.String(), "offset": flaw.Offset, "reason": flaw.Flaw.Reason()}))
}

func flawCode(f wireflaw.Flaw) candor.Code {
	switch f {
	case wireflaw.TooLarge:
		return candor.CodeMessageTooLarge
	case wireflaw.TooDeep:
		return candor.CodeMessageTooDeep
	case wireflaw.Batch:
		return candor.CodeBatchUnsupported
	case wireflaw.NotJSON, wireflaw.Truncated, wireflaw.TrailingData, wireflaw.BOM, wireflaw.ControlCharacter, wireflaw.BadUTF8:
		return candor.CodeParseError
	default:
		return candor.CodeInvalidRequest
	}
}

// AnswerID returns the id for the answer to a malformed message. It is nil if the message could not be parsed or is itself a
// response, whose id refers to one of our requests.
func AnswerID(m *wire.Message, code candor.Code) wire.ID {
	answers := m.Method() == nil && (m.Result().Present() || m.Error().Present())
	if code == candor.CodeParseError || answers || m.ID().IsNull() {
		return nil
	}
	return m.ID()
}
