package boundary

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// emission builds the result of a failed tool call. No other code in this package sets isError.
type emission struct {
	b        *Boundary
	tool     *tool
	from     *mcp.CallToolResult // the tool's result, or nil
	complete bool                // the protocol version requires resultType

	result   *mcp.CallToolResult
	envelope []byte
	unmarked bool // the dialect reports this failure as data: pattern B of dual
}

// sealed marks a result whose failure was recorded. It is stored as the result's Go error, which the SDK does not send.
type sealed struct{ err *candor.Error }

func (s sealed) Error() string { return s.err.Error() }
func (s sealed) Unwrap() error { return s.err }

// asRPC reports whether the server's dialect puts the failures of tools into JSON-RPC errors.
func (m *emission) asRPC() bool { return m.b.o.Dialect.Carrier() == dialect.CarrierRPCError }

// fresh is an empty result with resultType "complete". The SDK has no exported way to set the type, so the value is decoded from
// JSON.
var fresh = func() mcp.CallToolResult {
	var r mcp.CallToolResult
	if err := json.Unmarshal([]byte(`{"resultType":"complete","content":[]}`), &r); err != nil {
		panic(err) // unreachable: the text is a literal
	}
	return r
}()

// made holds the parts of a result, so that they take one allocation.
type made struct {
	result  mcp.CallToolResult
	text    mcp.TextContent
	content [1]mcp.Content
	raw     json.RawMessage
}

// write builds the result and its envelope.
func (m *emission) write(e *candor.Error) {
	m.unmarked = false
	if m.b.o.Dialect.Name() == "candor" || m.b.o.Dialect.Carrier() == dialect.CarrierDocument {
		m.writeNative(e)
	} else {
		m.writeDialect(e)
	}
	m.keepContent()
	m.result.SetError(sealed{e}) // marks the result as recorded; SetError keeps existing content
	m.result.IsError = !m.unmarked
}

// writeNative writes the candor dialect without decoding it again, because most servers use this dialect.
func (m *emission) writeNative(e *candor.Error) {
	buf := make([]byte, 0, 1024) // enough for most errors
	buf = dialect.AppendText(buf, e)
	n := len(buf)
	buf = candorDialect.Encode(buf, e, dialect.Options{Stack: m.b.o.Stack})
	p := &made{raw: buf[n:]}
	if m.complete {
		p.result = fresh
	}
	p.text.Text = string(buf[:n])
	p.content[0] = &p.text
	p.result.Content = p.content[:]
	p.result.Meta = mcp.Meta{dialect.MetaKey: &p.raw}
	if m.b.o.Sep3313 {
		p.result.Meta[dialect.ToolFailureKey] = json.RawMessage(toolFailure.Encode(nil, e, m.b.options()))
	}
	if m.b.o.Mirror && m.mayMirror() {
		p.result.StructuredContent = &p.raw
	}
	m.result, m.envelope = &p.result, buf[n:]
}

var toolFailure = dialect.Must("sep3313")

// mayMirror reports whether the envelope may be copied to structuredContent. That requires a tool known to have no outputSchema,
// because some clients validate errors against that schema too, and then hide them.
func (m *emission) mayMirror() bool { return m.tool != nil && m.tool.listed.OutputSchema == nil }

// writeDialect encodes the result with the dialect and decodes it into the SDK's type.
func (m *emission) writeDialect(e *candor.Error) {
	o := m.b.options()
	o.Complete, o.NoOutputSchema, o.Now = m.complete, m.mayMirror(), e.Time()
	if m.b.o.Pattern != nil && m.tool != nil {
		o.Pattern = m.b.o.Pattern(m.tool.listed.Name)
	}
	raw := m.b.o.Dialect.Write(nil, e, o)
	r := new(mcp.CallToolResult)
	if err := json.Unmarshal(raw, r); err != nil {
		m.writeNative(e)
		return
	}
	keepOrder(r, raw)
	m.unmarked = !r.IsError
	m.result, m.envelope = r, m.b.o.Dialect.Encode(nil, e, o)
}

// keepOrder restores the order of members that the dialect wrote. The SDK decodes objects into maps, and the order of an envelope's
// members is part of its dialect.
func keepOrder(r *mcp.CallToolResult, raw []byte) {
	v, err := wire.ParseValue(raw, wire.Limits{})
	if err != nil {
		return
	}
	if own, ok := v.Get("structuredContent"); ok {
		r.StructuredContent = json.RawMessage(own.Raw())
	}
	for name, value := range v.Path("_meta").Members() {
		if key, ok := name.Str(); ok {
			r.Meta[key] = json.RawMessage(value.Raw())
		}
	}
}

// keepContent adds the content of the tool's result: its blocks after the boundary's block, its other members of _meta, and its
// structured content if that is valid and not an envelope. Texts are redacted, because errors often contain secrets.
func (m *emission) keepContent() {
	if m.from == nil {
		return
	}
	if !m.onlyErrorText() {
		theirs := attached(m.from)
		for i, block := range m.from.Content {
			if i == 0 && repeats(block, theirs) {
				continue
			}
			m.result.Content = append(m.result.Content, redactedBlock(block))
		}
	}
	for key, value := range m.from.Meta {
		if _, ours := m.result.Meta[key]; !ours && plain(value, 0) {
			m.result.Meta[key] = redactedValue(value)
		}
	}
	if structure := redactedValue(m.from.StructuredContent); structure != nil && !isEnvelope(structure) && m.keeps(structure) {
		m.result.StructuredContent = structure
	}
}

// onlyErrorText reports whether the content is only the text of a Go error, as the SDK writes it. The boundary's block includes that
// text.
func (m *emission) onlyErrorText() bool {
	err := m.from.GetError()
	if err == nil || len(m.from.Content) != 1 {
		return false
	}
	text, ok := m.from.Content[0].(*mcp.TextContent)
	return ok && text != nil && text.Text == err.Error()
}

// keeps reports whether the tool's structured content may be kept: it can be encoded and matches the output schema.
func (m *emission) keeps(structure any) bool {
	raw, err := json.Marshal(structure)
	if err != nil {
		return false
	}
	return m.tool == nil || m.tool.output == nil || m.tool.output.Explain(raw).OK()
}
