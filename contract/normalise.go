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
// data["dev.candor/error"]; every other byte stays. It is idempotent: an answer that carries a canonical error leaves unchanged,
// and so does anything it cannot add to without taking something away, such as data that is exactly {"uri": …}.
//
// A suspected failure must not be passed here unless a rule for that tool says so: isError is set to true.
func Normalise(dst []byte, m *wire.Message, e *candor.Error, o candor.JSONOptions) ([]byte, error) {
	if m.Value().Type() != wire.TypeObject || attached(m).Present() {
		return append(dst, m.Bytes()...), nil
	}
	envelope := e.AppendJSON(nil, o)
	switch m.Shape() {
	case wire.KindError:
		return normaliseError(dst, m, envelope)
	case wire.KindResult:
		return normaliseResult(dst, m, e, envelope)
	case wire.KindMalformed, wire.KindRequest, wire.KindNotification:
		return append(dst, m.Bytes()...), nil
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

func normaliseError(dst []byte, m *wire.Message, envelope []byte) ([]byte, error) {
	data, ok := m.Error().Get("data")
	switch {
	case ok && onlyURI(data):
		return append(dst, m.Bytes()...), nil // clients know this error by that exact shape
	case ok && data.Type() != wire.TypeObject && says(data):
		envelope = bytes.Join([][]byte{[]byte(`{"value":`), data.Raw(), []byte(`,"` + dialect.MetaKey + `":`), envelope, []byte(`}`)}, nil)
		return wire.SetMember(dst, m.Bytes(), []string{"error", "data"}, envelope)
	case ok && data.Type() != wire.TypeObject:
		envelope = bytes.Join([][]byte{[]byte(`{"` + dialect.MetaKey + `":`), envelope, []byte(`}`)}, nil)
		return wire.SetMember(dst, m.Bytes(), []string{"error", "data"}, envelope)
	default:
		return wire.SetMember(dst, m.Bytes(), []string{"error", "data", dialect.MetaKey}, envelope)
	}
}

func onlyURI(data wire.Value) bool {
	_, ok := data.Get("uri")
	return ok && data.Len() == 1
}

func normaliseResult(dst []byte, m *wire.Message, e *candor.Error, envelope []byte) ([]byte, error) {
	out, err := wire.SetMember(nil, m.Bytes(), []string{"result", "_meta", dialect.MetaKey}, envelope)
	if err != nil {
		return dst, err
	}
	if out, err = addBlock(out, m, e); err != nil {
		return dst, err
	}
	return wire.SetMember(dst, out, []string{"result", "isError"}, []byte("true"))
}

// addBlock puts the readable text in front: some clients show the first block and nothing else.
func addBlock(doc []byte, m *wire.Message, e *candor.Error) ([]byte, error) {
	block := append([]byte(`{"type":"text","text":`), jsontext.AppendString(nil, dialect.AppendText(nil, e))...)
	block = append(block, '}')
	if content, ok := m.ResultMember("content"); ok && content.Type() == wire.TypeArray {
		return wire.InsertElement(nil, doc, []string{"result", "content"}, 0, block)
	}
	return wire.SetMember(nil, doc, []string{"result", "content"}, append(append([]byte{'['}, block...), ']'))
}
