package contract

import (
	"bytes"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// dialectVerdict applies the dialect configured for the server to an answer that is not marked as a failure. An answer that the
// dialect reads as a failure is certainly one, and an answer that it marks as a success is clean with any data.
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
		payload, _ = wire.ParseValue(text, wire.Limits{}) // a text that is not JSON lacks the member ok
	}
	flag, _ := payload.Path("ok").Bool()
	return flag && payload.Path("data").Present()
}

// spoken returns the error in an answer that uses a dialect: Candor's own envelope, the dialect configured for the
// server, or a dialect that can be detected. It returns nil for any other answer. Only Candor's envelope states that a
// call of a tool was refused by the server; what other dialects say of a call is said by its tool.
func spoken(x *Exchange) *candor.Error {
	m := &x.Response
	if mayHoldEnvelope(x) {
		if e, own := spokenIn(m.Value(), x.Dialect); e != nil {
			if by := e.Origin(); !own && by.By == candor.PartyServer && (m.Shape() == wire.KindResult || method(x) == "tools/call") {
				e = e.With(candor.WithOrigin(candor.PartyTool, by.Inferred))
			}
			return e
		}
	}
	if m.Shape() != wire.KindResult {
		return nil
	}
	text, _ := firstText(x, m.Result().Path("content"))
	return refusalIn(text)
}

// mayHoldEnvelope returns false for a result that cannot hold an envelope: its only members are isError and content, and the content
// lacks the escaped quotes that a JSON object in a text needs.
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

// spokenIn reads the envelope in a message, a result or an error object, and reports whether it is Candor's own. It
// returns nil otherwise.
func spokenIn(v wire.Value, configured string) (e *candor.Error, own bool) {
	if envelope, ok := dialect.Embedded(v); ok {
		if e, err := dialect.ReadCandor(envelope); err == nil {
			return e, true
		}
	}
	if e := inDialect(v, configured); e != nil {
		return e, configured == "candor"
	}
	if d, ok := dialect.Detect(v); ok && plainly(d, v) {
		own = d.Name() == "candor"
		if e, err := d.Read(v); err == nil && (own || e.Details().Get("said").IsZero()) {
			return e, own
		}
	}
	return nil, false
}

// blockDialects are the dialects that write an envelope to a text block.
var blockDialects = []string{"system-error", "tool-error", "dual", "dual-unified"}

// spokenText reads a text that is an envelope of a dialect or a refusal. It returns nil for any other text.
func spokenText(text string) *candor.Error {
	if v, err := wire.ParseValue([]byte(strings.TrimLeft(text, " \t\r\n")), wire.Limits{}); err == nil {
		if d, ok := dialect.Detect(v); ok && slices.Contains(blockDialects, d.Name()) {
			if e, err := d.Read(v); err == nil && e.Details().Get("said").IsZero() {
				return e
			}
		}
	}
	e, _ := dialect.ReadRefusal(text)
	return e
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
	d, err := dialect.Lookup(configured)
	if err != nil {
		return nil
	}
	e, _ := d.Read(v) // nil if it is not in this dialect
	return e
}

// plainly reports whether a detected dialect is more than a coincidence of form: any JSON-RPC error has the form of rpc.
func plainly(d dialect.Dialect, v wire.Value) bool {
	if d.Name() != "rpc" {
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
	if tool := callFactsOf(x.Request).tool; e.CallInfo().Tool == "" && tool != "" {
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
