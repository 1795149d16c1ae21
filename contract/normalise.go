package contract

import (
	"bytes"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/wire"
)

// ValueMember is the member under which [Normalise] keeps data or a _meta of an answer that is not an object.
const ValueMember = "value"

// Normalise appends the failing answer m to dst with the canonical error e attached, and returns the longer slice.
//
// A result gains _meta["dev.candor/error"], a readable text block in front of its own, and isError; a JSON-RPC error gains
// data["dev.candor/error"]. A canonical error that m carries already is replaced, and so is its mirror in structuredContent: the
// envelope is that of whoever passes the answer on. Every other byte stays. Data or a _meta that is not an object becomes the member
// [ValueMember] of one, and content that is not a list becomes a block of one.
//
// It is idempotent: an answer that carries this very error leaves unchanged. So does data that is exactly {"uri": …}, by which clients
// know a missing resource, and an error that is not an object.
//
// A suspected failure must not be passed here unless a rule for that tool says so: isError is set to true.
func Normalise(dst []byte, m *wire.Message, e *candor.Error, o candor.JSONOptions) ([]byte, error) {
	envelope := e.AppendJSON(nil, o)
	if m.Value().Type() != wire.TypeObject || bytes.Equal(attached(m).Raw(), envelope) {
		return append(dst, m.Bytes()...), nil
	}
	switch {
	case m.Shape() == wire.KindError && m.Error().Type() == wire.TypeObject && !onlyURI(m.Error().Path("data")):
		data, _ := m.Error().Get("data")
		return setEnvelope(dst, m.Bytes(), []string{"error", "data"}, data, envelope)
	case m.Shape() == wire.KindResult && m.Result().Type() == wire.TypeObject:
		return normaliseResult(dst, m, e, envelope)
	default:
		return append(dst, m.Bytes()...), nil
	}
}

// attached returns the canonical error that a message carries, or the absent value.
func attached(m *wire.Message) wire.Value {
	if m.Shape() == wire.KindError {
		return m.Error().Path("data", dialect.MetaKey)
	}
	meta, _ := m.ResultMember("_meta")
	own, _ := meta.Get(dialect.MetaKey)
	return own
}

// setEnvelope appends doc with the envelope in the object at path, which is holder now. A holder of another type is kept as a member.
func setEnvelope(dst, doc []byte, path []string, holder wire.Value, envelope []byte) ([]byte, error) {
	if !holder.Present() || holder.Type() == wire.TypeObject {
		return wire.SetMember(dst, doc, append(path, dialect.MetaKey), envelope)
	}
	object := []byte{'{'}
	if !holder.IsNull() {
		object = append(append(append(object, `"`+ValueMember+`":`...), holder.Raw()...), ',')
	}
	object = append(append(append(object, `"`+dialect.MetaKey+`":`...), envelope...), '}')
	return wire.SetMember(dst, doc, path, object)
}

func onlyURI(data wire.Value) bool {
	_, ok := data.Get("uri")
	return ok && data.Len() == 1
}

func normaliseResult(dst []byte, m *wire.Message, e *candor.Error, envelope []byte) ([]byte, error) {
	meta, _ := m.ResultMember("_meta")
	out, err := setEnvelope(nil, m.Bytes(), []string{"result", "_meta"}, meta, envelope)
	if err != nil {
		return dst, err
	}
	if mirrored(m) {
		if out, err = wire.SetMember(nil, out, []string{"result", "structuredContent"}, envelope); err != nil {
			return dst, err
		}
	}
	if out, err = addBlock(out, m, e); err != nil {
		return dst, err
	}
	return wire.SetMember(dst, out, []string{"result", "isError"}, []byte("true"))
}

// mirrored reports a result whose structuredContent is a canonical error.
func mirrored(m *wire.Message) bool {
	content, ok := m.ResultMember("structuredContent")
	if !ok {
		return false
	}
	d, ok := dialect.Detect(content)
	return ok && d.Name() == "candor"
}

// addBlock puts the readable text in front: some clients show the first block and nothing else.
func addBlock(doc []byte, m *wire.Message, e *candor.Error) ([]byte, error) {
	block := textBlock(dialect.AppendText(nil, e))
	content, _ := m.ResultMember("content")
	path := []string{"result", "content"}
	if content.Type() == wire.TypeArray {
		return wire.InsertElement(nil, doc, path, 0, block)
	}
	list := append([]byte{'['}, block...)
	if theirs := blockOf(content); theirs != nil {
		list = append(append(list, ','), theirs...)
	}
	return wire.SetMember(nil, doc, path, append(list, ']'))
}

// blockOf returns content that is not a list as one block, nil if it says nothing.
func blockOf(content wire.Value) []byte {
	switch content.Type() {
	case wire.TypeAbsent, wire.TypeNull:
		return nil
	case wire.TypeString:
		return append(append([]byte(`{"type":"text","text":`), content.Raw()...), '}')
	case wire.TypeObject:
		if content.Path("type").Type() == wire.TypeString {
			return content.Raw()
		}
	case wire.TypeBool, wire.TypeNumber, wire.TypeArray:
	}
	return textBlock(content.Raw())
}

func textBlock(text []byte) []byte {
	block := jsontext.AppendString([]byte(`{"type":"text","text":`), text)
	return append(block, '}')
}
