package dialect

import (
	"bytes"
	"encoding/json"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/wire"
)

// resultParts holds the parts of a result that differ between dialects.
type resultParts struct {
	text     []byte    // the first block
	mirror   []byte    // the envelope for structuredContent, or nil
	native   bool      // the text is that of AppendText, and the canonical error is the mirror
	unmarked bool      // isError is omitted
	failure  bool      // the members of sep3313 belong to this dialect, which uses only _meta
	stack    stackView // the stack policies for the canonical error
}

// resultDialect is a dialect with a result as the carrier.
type resultDialect interface {
	Dialect
	parts(dst []byte, e *candor.Error, o Options) resultParts // the text is at dst, which has length 0
}

// Result is the MCP result that a dialect writes for an error, for a library that encodes the result itself.
type Result struct {
	Text       string          // the first block of the content
	Readable   string          // the second block, or ""
	Structured json.RawMessage // structuredContent, or nil
	Canonical  json.RawMessage // the member of _meta under [MetaKey]
	Failure    json.RawMessage // the member of _meta under [ToolFailureKey], or nil
	Envelope   json.RawMessage // the bare envelope, as Encode writes it
	IsError    bool
}

// ResultOf returns the result that a dialect writes. A dialect with another carrier is replaced by candor. The raw members are in the
// capacity of buf if they fit.
func ResultOf(buf []byte, d Dialect, e *candor.Error, o Options) Result {
	e = whole(e)
	in, ok := d.(resultDialect)
	if !ok {
		in = native{}
	}
	p := in.parts(buf[:0], e, o)
	r := Result{Text: string(p.text), Envelope: p.mirror, IsError: !p.unmarked}
	r.Canonical = appendCanonical(p.text[len(p.mirror):][:0], e, o, p.stack) // behind the mirror, or over the text
	if o.Readable && !p.native {
		r.Readable = string(AppendText(nil, e))
	}
	if o.Sep3313 || p.failure {
		r.Failure = appendToolFailure(nil, e, o)
	}
	if p.failure {
		r.Envelope = r.Failure
	} else if p.native {
		r.Envelope = r.Canonical
	}
	if o.NoOutputSchema && !p.failure && (!p.native || o.Mirror) {
		r.Structured = r.Envelope
	}
	return r
}

// writeResult appends an MCP result, as a JSON-RPC response if the options ask for it.
func writeResult(d resultDialect, dst []byte, e *candor.Error, o Options) []byte {
	r := ResultOf(make([]byte, 0, 1024), d, e, o)
	if o.Response {
		dst = append(openResponse(dst, o.ID), `"result":`...)
	}
	dst = append(dst, '{')
	if o.Complete {
		dst = append(dst, `"resultType":"complete",`...)
	}
	dst = appendBlock(append(dst, `"content":[`...), r.Text)
	if r.Readable != "" {
		dst = appendBlock(append(dst, ','), r.Readable)
	}
	dst = append(dst, ']')
	if r.Structured != nil {
		dst = appendRaw(dst, "structuredContent", r.Structured)
	}
	if r.IsError {
		dst = append(dst, `,"isError":true`...)
	}
	dst = append(append(dst, `,"_meta":{"`+MetaKey+`":`...), r.Canonical...)
	if r.Failure != nil {
		dst = appendRaw(dst, ToolFailureKey, r.Failure)
	}
	dst = append(dst, `}}`...)
	if o.Response {
		dst = append(dst, '}')
	}
	return dst
}

func appendBlock(dst []byte, text string) []byte {
	dst = append(dst, `{"type":"text","text":`...)
	return append(jsontext.AppendString(dst, text), '}')
}

// openResponse appends the beginning of a JSON-RPC response, up to and including the comma before result or error.
func openResponse(dst, id []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0",`...)
	if !isID(id) {
		return dst
	}
	return append(append(append(dst, `"id":`...), bytes.TrimSpace(id)...), ',')
}

// isID reports whether a token is a valid id. Any other token would make the whole response unreadable.
func isID(token []byte) bool {
	if len(token) == 0 {
		return false
	}
	v, err := wire.ParseValue(token, wire.Limits{MaxDepth: 1})
	return err == nil && (v.Type() == wire.TypeNumber || v.Type() == wire.TypeString || v.IsNull())
}

// maxBlocks is the number of blocks of a result that are searched for an envelope, because other blocks may precede it.
const maxBlocks = 8

// resultOf returns the MCP result that v is or holds; ok is false for anything else, such as a bare envelope.
func resultOf(v wire.Value) (result wire.Value, ok bool) {
	if inner, has := v.Get("result"); has && inner.Type() == wire.TypeObject {
		v = inner
	}
	if v.Path("content").Type() == wire.TypeArray || v.Path("structuredContent").Type() == wire.TypeObject {
		return v, true
	}
	return wire.Value{}, false
}

// findEnvelope returns the first envelope for which marked is true: v itself, a block of the result it holds, or its
// structuredContent. result is absent for a bare envelope.
func findEnvelope(v wire.Value, marked func(wire.Value) bool) (envelope, result wire.Value, ok bool) {
	result, ok = resultOf(v)
	if !ok {
		return v, wire.Value{}, marked(v)
	}
	n := 0
	for block := range result.Path("content").Elements() {
		if n++; n > maxBlocks {
			break
		}
		if envelope, ok = parseText(block.Path("text")); ok && marked(envelope) {
			return envelope, result, true
		}
	}
	envelope = result.Path("structuredContent")
	return envelope, result, marked(envelope)
}

// parseText parses a string that holds a JSON object.
func parseText(v wire.Value) (wire.Value, bool) {
	text, _ := v.StrBytes()
	text = bytes.TrimLeft(text, " \t\r\n")
	if len(text) == 0 || text[0] != '{' {
		return wire.Value{}, false
	}
	object, err := wire.ParseValue(text, wire.Limits{})
	return object, err == nil
}

// firstText returns the text of the first block that has one.
func firstText(result wire.Value) string {
	for block := range result.Path("content").Elements() {
		if text, ok := block.Path("text").Str(); ok && text != "" {
			return text
		}
	}
	return ""
}
