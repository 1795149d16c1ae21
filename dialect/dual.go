package dialect

import (
	"encoding/json"
	"strings"

	"github.com/candor-mcp/candor"
	dualcode "github.com/candor-mcp/candor/codes/dual"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/wire"
)

// dual is a shape with two forms. Pattern A says that the call failed:
//
//	{"ok":false,"error":{"code":…,"message":…,"details":{"issues":[…]}}}
//
// and its result is marked isError. Pattern B reports the call as a success and describes the failure in its data, unmarked:
//
//	{"ok":true,"data":{"ok":false,"error":{"code":…,"message":…}}}
//
// In the legacy form a raised code is written as HANDLER_ERROR, with the actual code as a prefix of the message and in
// details.code. The unified form writes pattern A for every error, marked, with the code in error.code.
type dual struct {
	unified bool
}

const dualDomain = "dual"

// Name returns the name of the dialect.
func (d dual) Name() string {
	if d.unified {
		return "dual-unified"
	}
	return "dual"
}

// Encode appends the pattern that the options or the code select.
func (d dual) Encode(dst []byte, e *candor.Error, o Options) []byte {
	e = whole(e)
	if d.usesB(e, o) {
		dst = d.appendA(append(dst, `{"ok":true,"data":`...), e, true)
		return append(dst, '}')
	}
	return d.appendA(dst, e, d.unified)
}

// usesB reports whether pattern B is used. By default it is used for codes that begin with ERR_, which are returned and not
// raised.
func (d dual) usesB(e *candor.Error, o Options) bool {
	switch {
	case d.unified || o.Pattern == 'A':
		return false
	case o.Pattern == 'B':
		return true
	default:
		return strings.HasPrefix(e.Code().Symbol(), "ERR_")
	}
}

// appendA appends {"ok":false,"error":…}. If plain is set, error.code is the code; otherwise it is written in the legacy form.
func (dual) appendA(dst []byte, e *candor.Error, plain bool) []byte {
	c, details := e.Code(), e.Details().String()
	dst = append(dst, `{"ok":false,"error":{"code":"`...)
	if plain || c == dualcode.InvalidParams || c == dualcode.HandlerError {
		dst = append(append(dst, c.Symbol()...), `","message":`...)
		dst = jsontext.AppendString(dst, e.Message())
		if c == dualcode.HandlerError && looksRaised(e) {
			details = coded(c, details)
		}
	} else {
		dst = append(append(dst, dualcode.HandlerError.Symbol()...), `","message":`...)
		dst = jsontext.AppendString(dst, c.Symbol()+codeMark+e.Message())
		details = coded(c, details)
	}
	if details != "" {
		dst = appendRaw(dst, "details", details)
	}
	return append(dst, `}}`...)
}

// looksRaised reports whether a reader would mistake HANDLER_ERROR for another code, by the beginning of its message or by a
// member code in its details.
func looksRaised(e *candor.Error) bool {
	if prefixed, _ := prefixCode(e.Message()); prefixed.Valid() {
		return true
	}
	return !e.Details().Get("code").IsZero()
}

// codeMark separates the code and the message of a raised error.
const codeMark = ": "

// coded adds the code to details as the first member. Details that are not an object are kept under value.
func coded(c candor.Code, details string) string {
	head := `{"code":"` + c.Symbol() + `"`
	if details == "" {
		return head + "}"
	}
	v, err := wire.ParseValue([]byte(details), wire.Limits{})
	if err != nil || v.Type() != wire.TypeObject {
		return head + `,"value":` + details + "}"
	}
	rest := without(v, "code").Raw()
	if string(rest) == "{}" {
		return head + "}"
	}
	return head + "," + string(rest[1:])
}

// Write appends a result, marked unless it is pattern B.
func (d dual) Write(dst []byte, e *candor.Error, o Options) []byte { return writeResult(d, dst, e, o) }

func (d dual) parts(dst []byte, e *candor.Error, o Options) resultParts {
	envelope := d.Encode(dst, e, o)
	return resultParts{text: envelope, mirror: envelope, unmarked: d.usesB(e, o)}
}

// marked distinguishes the two forms: only the unified one has a code at the top other than the two of the legacy form.
func (d dual) marked(v wire.Value) bool {
	fault, ok := dualError(v)
	if !ok || !v.Path("ok").Present() {
		return false
	}
	inB, _ := v.Path("ok").Bool()
	code, _ := fault.Path("code").Str()
	legacy := inB || code == dualcode.InvalidParams.Symbol() || code == dualcode.HandlerError.Symbol()
	return legacy != d.unified
}

// dualError returns the error object of either pattern, or of {"error":…} alone, which the documents of that system show. Any
// other value is not a failure: data with ok false is a failure only if it also has an error with code and message.
func dualError(v wire.Value) (wire.Value, bool) {
	ok, isBool := v.Path("ok").Bool()
	switch {
	case isBool && ok:
		if inner, isFalse := v.Path("data", "ok").Bool(); !isFalse || inner {
			return wire.Value{}, false
		}
		v = v.Path("data")
	case !isBool && v.Path("ok").Present():
		return wire.Value{}, false
	}
	fault := v.Path("error")
	return fault, fault.Path("code").Type() == wire.TypeString && fault.Path("message").Type() == wire.TypeString
}

func isDual(v wire.Value) bool {
	_, ok := dualError(v)
	return ok
}

// Read reads both patterns, in the legacy and the unified form.
func (d dual) Read(v wire.Value) (*candor.Error, error) {
	envelope, result, ok := findEnvelope(v, isDual)
	if !ok {
		return nil, refuse(d.Name(), `it is {"ok":false,"error":…}, or that as data of {"ok":true}`,
			"no error with code and message was found; data with ok:false alone are not a failure")
	}
	fault, _ := dualError(envelope)
	embedded, _ := Embedded(result)
	return dualVisible(fault, dualBeside(envelope)).reconcile(embedded), nil
}

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
	return 0, message
}
