package dialect

import (
	"encoding/json"
	"strings"

	"github.com/candor-mcp/candor"
	dualcode "github.com/candor-mcp/candor/codes/dual"
	"github.com/candor-mcp/candor/wire"
)

// dualVisible reads {code, message, details}. Other members, such as the missing_fields of some codes, are kept in details, and so
// are the members beside the error.
func dualVisible(v, beside wire.Value) visible {
	symbol, _ := v.Path("code").Str()
	message, _ := v.Path("message").Str()
	details := v.Path("details")
	code, known := symbolCode(symbol, dualDomain)
	inferred, unknown := false, ""
	if code == dualcode.HandlerError {
		if exact, ok := candor.LookupSymbol(scalarText(details.Path("code")), dualDomain); ok {
			code, details = exact, without(details, "code")
			message = strings.TrimPrefix(message, exactPrefix(v, code))
		} else if raised, rest := prefixCode(message); raised.Valid() {
			code, message, inferred = raised, rest, true
		} else if exact := scalarText(details.Path("code")); isSymbol(exact) {
			unknown = exact
		}
	}
	details = canonicalDetails(joined(joined(details, without(v, "code", "message", "details")), beside))
	e := candor.New(code, message, candor.WithOrigin(candor.PartyTool, inferred), candor.WithDetails(rawDetails(details)))
	if !known {
		e, unknown = withSaid(e, object{}.text("code", symbol)), symbol
	}
	return visible{err: e, unknown: unknown, noRetry: true, noDomain: true}
}

// dualBeside returns the members of an envelope of either pattern that the pattern does not define.
func dualBeside(envelope wire.Value) wire.Value {
	own := []string{"ok", "data", "error", "jsonrpc", "id", "_meta"}
	if ok, _ := envelope.Path("ok").Bool(); ok {
		return joined(without(envelope.Path("data"), own...), without(envelope, own...))
	}
	return without(envelope, own[0], own[2], own[3], own[4], own[5]) // in pattern A, data is a member like others
}

// exactPrefix returns the prefix that the legacy form put before the message of a code that details.code names.
func exactPrefix(v wire.Value, code candor.Code) string {
	if code == dualcode.HandlerError {
		return "" // HANDLER_ERROR is never written as a prefix
	}
	return scalarText(v.Path("details", "code")) + codeMark
}

// rawDetails returns nil for an absent value and for an empty object, else the raw value.
func rawDetails(v wire.Value) any {
	if !v.Present() || v.Type() == wire.TypeObject && v.Len() == 0 {
		return nil
	}
	return json.RawMessage(v.Raw())
}

// raisedTexts are the beginnings of messages of raised errors that name no code.
var raisedTexts = []struct {
	begin string
	code  candor.Code
}{
	{"UNIQUE constraint failed", dualcode.UniqueViolation},
	{"SQLITE_CONSTRAINT_UNIQUE", dualcode.UniqueViolation},
	{"SQLITE_BUSY", dualcode.DBBusy},
	{"SQLITE_FULL", dualcode.DBFull},
}

// prefixCode reads the code that a raised error has as a prefix, "INVALID_KEY: …" or the name of its class,
// "FallbackChainExhaustedError: …", and returns it with the message after it. It returns the zero Code if the message has no code.
func prefixCode(message string) (candor.Code, string) {
	head, rest, ok := strings.Cut(message, ":")
	if !ok {
		head = message
	}
	if c, known := candor.LookupSymbol(head, dualDomain); known && c != dualcode.HandlerError {
		return c, strings.TrimPrefix(rest, " ")
	}
	for _, known := range raisedTexts {
		if strings.HasPrefix(message, known.begin) {
			return known.code, message
		}
	}
	return candor.Code{}, message
}
