package boundary

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/audience"
	"github.com/candor-mcp/candor/internal/redactjson"
)

// emission builds the result of a failed tool call. No other code in this package sets isError.
type emission struct {
	b        *Boundary
	tool     *tool
	from     *mcp.CallToolResult // the tool's result, or nil
	complete bool                // the protocol version requires resultType
	to       contract.Client     // who reads the result

	result   *mcp.CallToolResult
	envelope []byte
}

// sealed marks a recorded failure. It is stored as the Go error of the result, which the SDK does not send.
type sealed struct{ err *candor.Error }

func (s sealed) Error() string { return s.err.Error() }
func (s sealed) Unwrap() error { return s.err }

// asRPC reports whether the server's dialect puts the failures of tools into JSON-RPC errors.
func (m *emission) asRPC() bool { return m.b.o.Dialect.Name() == "rpc" }

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

	canonical json.RawMessage
	raw       [768]byte // the canonical error, which is usually shorter
}

// write builds the result and its envelope.
func (m *emission) write(e *candor.Error) {
	o := m.b.options()
	structured := m.structured()
	if structured != nil && m.to.HidesText() {
		if raw, err := encodeValue(structured); err == nil {
			e, structured = audience.WithStructured(e, raw), nil
		}
	}
	o.Brief = m.to.Meta
	o.Complete, o.NoOutputSchema, o.Now = m.complete, m.mayMirror(), e.Time()
	if m.b.o.Pattern != nil && m.tool != nil {
		o.Pattern = m.b.o.Pattern(m.tool.listed.Name)
	}
	p := new(made)
	r := dialect.ResultOf(p.raw[:0], m.b.o.Dialect, e, o)
	p.canonical, p.text.Text = r.Canonical, r.Text
	if m.complete {
		p.result = fresh
	}
	p.content[0] = &p.text
	p.result.Content = p.content[:]
	if r.Readable != "" {
		p.result.Content = append(p.result.Content, &mcp.TextContent{Text: r.Readable})
	}
	p.result.Meta = mcp.Meta{dialect.MetaKey: &p.canonical}
	if r.Failure != nil {
		p.result.Meta[dialect.ToolFailureKey] = r.Failure
	}
	if r.Structured != nil {
		p.result.StructuredContent = r.Structured
	}
	m.result, m.envelope = &p.result, r.Envelope
	m.keepContent(e, structured)
	m.result.SetError(sealed{e}) // marks the result as recorded; SetError keeps existing content
	m.result.IsError = r.IsError
}

// mayMirror reports whether the envelope may be copied to structuredContent. That requires a tool known to have no outputSchema,
// because some clients validate errors against that schema too, and then hide them.
func (m *emission) mayMirror() bool { return m.tool != nil && m.tool.listed.OutputSchema == nil }

// keepContent adds the content of the tool's result: its blocks after the boundary's block, except texts that this repeats, its other
// members of _meta, and structured content. Texts are redacted, because errors often contain secrets.
func (m *emission) keepContent(e *candor.Error, structured any) {
	if m.from == nil {
		return
	}
	from := shortened(m.from)
	if !m.onlyErrorText() {
		theirs := attached(m.from)
		var list redactjson.Sequence
		for i, block := range from.Content {
			if clean := redactedBlock(block, &list); (i > 0 || !repeats(block, theirs)) && !m.shows(e, clean) {
				m.result.Content = append(m.result.Content, clean)
			}
		}
	}
	for key, value := range from.Meta {
		if clean := redactedValue(value); clean != nil && m.result.Meta[key] == nil {
			m.result.Meta[key] = clean
		}
	}
	if structured != nil {
		m.result.StructuredContent = structured
	}
}

// structured returns the structured content of the tool's result, redacted, if it is valid and not an envelope, otherwise nil.
func (m *emission) structured() any {
	if m.from == nil || isLarge(m.from.StructuredContent) {
		return nil
	}
	if s := redactedValue(m.from.StructuredContent); s != nil && readEnvelope(s) == nil && m.keeps(s) {
		return s
	}
	return nil
}

// shows reports whether the boundary's readable text has the whole text of a block.
func (m *emission) shows(e *candor.Error, block mcp.Content) bool {
	text, ok := block.(*mcp.TextContent)
	own, readable := m.result.Content[0].(*mcp.TextContent)
	return ok && text != nil && readable && m.b.o.Dialect.Name() == candorDialect.Name() && audience.Repeats(own.Text, e.Message(), text.Text)
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
