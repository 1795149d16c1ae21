package contract

import (
	"bytes"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/wire"
)

// Normalise appends the failing answer m to dst with the canonical error e attached, and returns the longer slice. It only adds:
// a result gains _meta["dev.candor/error"] and a readable text block in front of its own, a JSON-RPC error gains
// data["dev.candor/error"]; every other byte stays. It is idempotent: an answer that carries a readable canonical error leaves
// unchanged, and so does anything it cannot add to without taking something away: data that is exactly {"uri": …} or that is no
// object, a _meta that is no object, an error that is only a text.
//
// A suspected failure must not be passed here unless a rule for that tool says so: isError is set to true.
func Normalise(dst []byte, m *wire.Message, e *candor.Error, o candor.JSONOptions) ([]byte, error) {
	if m.Value().Type() != wire.TypeObject || readable(attached(m)) {
		return append(dst, m.Bytes()...), nil
	}
	envelope := e.AppendJSON(nil, o)
	switch {
	case m.Shape() == wire.KindError && extensible(m.Error()):
		return normaliseError(dst, m, envelope)
	case m.Shape() == wire.KindResult && m.Result().Type() == wire.TypeObject:
		return normaliseResult(dst, m, e, envelope)
	default:
		return append(dst, m.Bytes()...), nil
	}
}

// extensible reports whether a member can be added to the data of an error. Clients know some errors by the exact shape
// of their data.
func extensible(e wire.Value) bool {
	data := e.Path("data")
	return e.Type() == wire.TypeObject && (!says(data) || data.Type() == wire.TypeObject && !onlyURI(data))
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

func normaliseError(dst []byte, m *wire.Message, envelope []byte) ([]byte, error) {
	if data, ok := m.Error().Get("data"); ok && data.Type() != wire.TypeObject { // says nothing
		envelope = bytes.Join([][]byte{[]byte(`{"` + dialect.MetaKey + `":`), envelope, []byte(`}`)}, nil)
		return wire.SetMember(dst, m.Bytes(), []string{"error", "data"}, envelope)
	}
	return wire.SetMember(dst, m.Bytes(), []string{"error", "data", dialect.MetaKey}, envelope)
}

func onlyURI(data wire.Value) bool {
	_, ok := data.Get("uri")
	return ok && data.Len() == 1
}

func normaliseResult(dst []byte, m *wire.Message, e *candor.Error, envelope []byte) ([]byte, error) {
	out := m.Bytes()
	path := []string{"result", "_meta", dialect.MetaKey}
	meta, ok := m.ResultMember("_meta")
	switch {
	case ok && meta.IsNull():
		path, envelope = path[:2], bytes.Join([][]byte{[]byte(`{"` + dialect.MetaKey + `":`), envelope, []byte(`}`)}, nil)
	case ok && meta.Type() != wire.TypeObject:
		return append(dst, out...), nil
	}
	out, err := wire.SetMember(nil, out, path, envelope)
	if err != nil {
		return dst, err
	}
	if out, err = addBlock(out, m, e); err != nil {
		return dst, err
	}
	return wire.SetMember(dst, out, []string{"result", "isError"}, []byte("true"))
}

// addBlock puts the readable text in front: some clients show the first block and nothing else. Content that is no list stays.
func addBlock(doc []byte, m *wire.Message, e *candor.Error) ([]byte, error) {
	content, ok := m.ResultMember("content")
	if ok && content.Type() != wire.TypeArray {
		return doc, nil
	}
	block := append([]byte(`{"type":"text","text":`), jsontext.AppendString(nil, dialect.AppendText(nil, e))...)
	block = append(block, '}')
	if ok {
		return wire.InsertElement(nil, doc, []string{"result", "content"}, 0, block)
	}
	return wire.SetMember(nil, doc, []string{"result", "content"}, append(append([]byte{'['}, block...), ']'))
}
