package contract

import (
	"bytes"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// dialectVerdict applies the dialect configured for the server to an answer that is not marked as a failure. An answer that the
// dialect reads as a failure is certainly one, and an answer that it marks as a success is clean, whatever its data contains.
func dialectVerdict(x *Exchange) (Conclusion, bool) {
	d, err := dialect.Lookup(x.Dialect)
	if err != nil {
		return Conclusion{}, false
	}
	if _, err := d.Read(x.Response.Value()); err == nil {
		return certain(VerdictMasked, ruleDialect), true
	}
	if saysSuccess(&x.Response) {
		return certain(VerdictClean, ruleDialect), true
	}
	return Conclusion{}, false
}

// saysSuccess reports whether the result is the success form of the dual envelope.
func saysSuccess(m *wire.Message) bool {
	payload, ok := m.ResultMember("structuredContent")
	if !ok {
		content, _ := m.ResultMember("content")
		text, _ := content.Path(0, "text").StrBytes()
		payload, _ = wire.ParseValue(text, wire.Limits{}) // if it is not JSON, it has no member ok
	}
	flag, _ := payload.Path("ok").Bool()
	return flag && payload.Path("data").Present()
}

// spoken returns the error in an answer that uses a dialect: Candor's own envelope, the dialect configured for the server, or a
// dialect that can be detected. It returns nil for any other answer.
func spoken(x *Exchange) *candor.Error {
	m := &x.Response
	if mayHoldEnvelope(x) {
		if e := spokenIn(m.Value(), x.Dialect); e != nil {
			return e
		}
	}
	if m.Shape() != wire.KindResult {
		return nil
	}
	text, _ := firstText(x, m.Result().Path("content"))
	return refusalIn(text)
}

// mayHoldEnvelope returns false for a result that cannot hold an envelope: it has only isError and content, and its content has no
// escapes, which the text of a JSON object with a member needs for its quotes.
func mayHoldEnvelope(x *Exchange) bool {
	m := &x.Response
	if x.Dialect != "" || m.Shape() != wire.KindResult || m.Value().Path("error").Present() {
		return true
	}
	for name, value := range m.ResultMembers() {
		switch string(name.Raw()) {
		case `"isError"`:
		case `"content"`:
			if bytes.IndexByte(value.Raw(), '\\') >= 0 {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// spokenIn reads the envelope in a message, a result or an error object. It returns nil otherwise.
func spokenIn(v wire.Value, configured string) *candor.Error {
	if own, ok := dialect.Embedded(v); ok {
		if e, err := dialect.ReadCandor(own); err == nil {
			return e
		}
	}
	if e := inDialect(v, configured); e != nil {
		return e
	}
	if d, ok := dialect.Detect(v); ok && plainly(d, v) {
		if e, err := d.Read(v); err == nil && (d.Name() == "candor" || e.Details().Get("said").IsZero()) {
			return e
		}
	}
	return nil
}

// spokenText reads a text that is an envelope of a dialect or a refusal. It returns nil for any other text.
func spokenText(text string) *candor.Error {
	if trimmed := strings.TrimLeft(text, " \t\r\n"); strings.HasPrefix(trimmed, "{") {
		if v, err := wire.ParseValue([]byte(trimmed), wire.Limits{}); err == nil {
			if e := spokenInBlock(v); e != nil {
				return e
			}
		}
	}
	e, _ := dialect.ReadRefusal(text)
	return e
}

// spokenInBlock reads an envelope in one of the dialects that write it to a text block.
func spokenInBlock(v wire.Value) *candor.Error {
	d, ok := dialect.Detect(v)
	if !ok {
		return nil
	}
	switch d.Name() {
	case "system-error", "tool-error", "dual", "dual-unified":
	default:
		return nil
	}
	if e, err := d.Read(v); err == nil && e.Details().Get("said").IsZero() {
		return e
	}
	return nil
}

// refusalIn reads a text that is a refusal in the words of system-error. It returns nil for any other text.
func refusalIn(text wire.Value) *candor.Error {
	words, ok := text.Str()
	if !ok {
		return nil
	}
	e, _ := dialect.ReadRefusal(words)
	return e
}

// inDialect reads an answer in the dialect that is configured for its server, if any.
func inDialect(v wire.Value, configured string) *candor.Error {
	if configured == "" {
		return nil
	}
	d, err := dialect.Lookup(configured)
	if err != nil {
		return nil
	}
	e, err := d.Read(v)
	if err != nil {
		return nil
	}
	return e
}

// plainly reports whether a detected dialect is more than a coincidence of form: any JSON-RPC error has the form of rpc.
func plainly(d dialect.Dialect, v wire.Value) bool {
	if d.Carrier() != dialect.CarrierRPCError {
		return true
	}
	if inner, ok := v.Get("error"); ok {
		v = inner
	}
	data := v.Path("data")
	return data.Path("domain").Present() && data.Path("symbol").Present()
}

// placed fills in the ref, tool and time of an error that was read from a dialect without them.
func placed(e *candor.Error, x *Exchange) *candor.Error {
	var set []candor.Option
	if e.Ref() == "" {
		set = append(set, candor.WithRef(x.Ref))
	}
	if tool := askOf(x.Request).tool; e.CallInfo().Tool == "" && tool != "" {
		set = append(set, candor.WithTool(tool))
	}
	if e.Time().IsZero() && !x.At.IsZero() {
		set = append(set, candor.WithTime(x.At))
	}
	if len(set) == 0 {
		return e
	}
	return e.With(set...)
}
