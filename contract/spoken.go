package contract

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// dialectVerdict asks the dialect that a server is configured to speak about an answer that is not marked as a failure. What the
// dialect reads as a failure is certainly one, and what it calls a success is one, whatever its data say.
func dialectVerdict(x *Exchange) (Conclusion, bool) {
	d, err := dialect.Lookup(x.Dialect)
	if err != nil {
		return Conclusion{}, false
	}
	if _, err := d.Read(x.Response.Value()); err == nil {
		return certain(VerdictMasked, RuleDialect), true
	}
	if saysSuccess(&x.Response) {
		return certain(VerdictClean, RuleDialect), true
	}
	return Conclusion{}, false
}

// saysSuccess is the success form of the dual envelope.
func saysSuccess(m *wire.Message) bool {
	payload, ok := m.ResultMember("structuredContent")
	if !ok {
		content, _ := m.ResultMember("content")
		text, _ := content.Path(0, "text").StrBytes()
		payload, _ = wire.ParseValue(text, wire.Limits{}) // no JSON has no ok
	}
	flag, _ := payload.Path("ok").Bool()
	return flag && payload.Path("data").Present()
}

// spoken returns the error of an answer that speaks a dialect: Candor's own envelope, the dialect configured for the server, or one
// that shows its own marks. It is nil for everything else.
func spoken(x *Exchange) *candor.Error {
	m := &x.Response
	if own, ok := dialect.Embedded(m.Value()); ok {
		if e, err := dialect.ReadCandor(own); err == nil {
			return e
		}
	}
	if e := inDialect(x); e != nil {
		return e
	}
	if d, ok := dialect.Detect(m.Value()); ok && plainly(d, m) {
		if e, err := d.Read(m.Value()); err == nil && (d.Name() == "candor" || e.Details().Get("said").IsZero()) {
			return e
		}
	}
	if text, ok := firstText(x, m.Result().Path("content")); ok && m.Shape() == wire.KindResult {
		if words, ok := text.Str(); ok {
			if e, ok := dialect.ReadRefusal(words); ok {
				return e
			}
		}
	}
	return nil
}

// inDialect reads an answer in the dialect that is configured for its server. Most have none, and need not hear which there are.
func inDialect(x *Exchange) *candor.Error {
	if x.Dialect == "" {
		return nil
	}
	d, err := dialect.Lookup(x.Dialect)
	if err != nil {
		return nil
	}
	e, err := d.Read(x.Response.Value())
	if err != nil {
		return nil
	}
	return e
}

// plainly reports whether an answer bears more than the form of a dialect: any JSON-RPC error has the form of rpc.
func plainly(d dialect.Dialect, m *wire.Message) bool {
	if d.Carrier() != dialect.CarrierRPCError {
		return true
	}
	data := m.Error().Path("data")
	return data.Path("domain").Present() && data.Path("symbol").Present()
}

// placed fills in what an error read from a dialect does not say about itself.
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
