package contract

import (
	"bytes"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/wire"
)

// valueMember is the member under which [Normalise] keeps a data or _meta value that is not an object.
const valueMember = "value"

// Normalise appends the failing answer m to dst with the canonical error e attached, and returns the extended slice.
//
// A result gains _meta["dev.candor/error"], a readable text block in front of its own blocks, and isError; a JSON-RPC error gains
// data["dev.candor/error"]. A canonical error that m already carries is replaced, and so is its copy in structuredContent. Every
// other byte is kept. A data or _meta value that is not an object becomes the member "value" of a new object, and content that is
// not a list becomes a list of one block.
//
// Normalise is idempotent: an answer that already carries exactly this error is returned unchanged. So is an answer whose data is
// exactly {"uri": …}, by which clients recognise a missing resource, and one whose error is not an object.
//
// Do not pass a suspected failure unless a rule for that tool allows it, because isError is set to true.
func Normalise(dst []byte, m *wire.Message, e *candor.Error, o candor.JSONOptions) ([]byte, error) {
	envelope := e.AppendJSON(make([]byte, 0, 768), o) // enough for most envelopes
	if m.Value().Type() != wire.TypeObject || bytes.Equal(attached(m).Raw(), envelope) {
		return append(dst, m.Bytes()...), nil
	}
	switch {
	case m.Shape() == wire.KindError && m.Error().Type() == wire.TypeObject && !onlyURI(m.Error().Path("data")):
		data, _ := m.Error().Get("data")
		return edited(dst, m, envelopeEdit([]string{"error", "data"}, data, envelope))
	case m.Shape() == wire.KindResult && m.Result().Type() == wire.TypeObject:
		return normaliseResult(dst, m, e, envelope)
	default:
		return append(dst, m.Bytes()...), nil
	}
}

// edited appends a message with some edits. It keeps the white space around the message.
func edited(dst []byte, m *wire.Message, edits ...splice.Edit) ([]byte, error) {
	doc, root := m.Bytes(), m.Value()
	lead := len(doc) - len(bytes.TrimLeft(doc, " \t\r\n"))
	out, err := splice.Edits(append(dst, doc[:lead]...), root, edits...)
	if err != nil {
		return dst, err
	}
	return append(out, doc[lead+len(root.Raw()):]...), nil
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

// envelopeEdit returns the edit that adds the envelope to the object at path, whose current value is holder. A holder of another
// type is kept as a member.
func envelopeEdit(path []string, holder wire.Value, envelope []byte) splice.Edit {
	if !holder.Present() || holder.Type() == wire.TypeObject {
		return splice.Edit{Path: append(path, dialect.MetaKey), Value: envelope}
	}
	object := []byte{'{'}
	if !holder.IsNull() {
		object = append(append(append(object, `"`+valueMember+`":`...), holder.Raw()...), ',')
	}
	object = append(append(append(object, `"`+dialect.MetaKey+`":`...), envelope...), '}')
	return splice.Edit{Path: path, Value: object}
}

func onlyURI(data wire.Value) bool {
	_, ok := data.Get("uri")
	return ok && data.Len() == 1
}

func normaliseResult(dst []byte, m *wire.Message, e *candor.Error, envelope []byte) ([]byte, error) {
	meta, _ := m.ResultMember("_meta")
	edits := make([]splice.Edit, 0, 4)
	edits = append(edits, envelopeEdit([]string{"result", "_meta"}, meta, envelope))
	if mirrored(m) {
		edits = append(edits, splice.Edit{Path: []string{"result", "structuredContent"}, Value: envelope})
	}
	edits = append(edits, blockEdit(m, e), splice.Edit{Path: []string{"result", "isError"}, Value: []byte("true")})
	return edited(dst, m, edits...)
}

// mirrored reports whether the structuredContent of a result is a canonical error.
func mirrored(m *wire.Message) bool {
	content, ok := m.ResultMember("structuredContent")
	if !ok {
		return false
	}
	d, ok := dialect.Detect(content)
	return ok && d.Name() == "candor"
}

// blockEdit returns the edit that puts the readable text first, because some clients show only the first block.
func blockEdit(m *wire.Message, e *candor.Error) splice.Edit {
	var space [dialect.MaxReadable]byte
	block := textBlock(dialect.AppendText(space[:0], e))
	content, _ := m.ResultMember("content")
	path := []string{"result", "content"}
	if content.Type() == wire.TypeArray {
		return splice.Edit{Path: path, Value: block, Insert: true}
	}
	list := append([]byte{'['}, block...)
	if theirs := blockOf(content); theirs != nil {
		list = append(append(list, ','), theirs...)
	}
	return splice.Edit{Path: path, Value: append(list, ']')}
}

// blockOf returns content that is not a list as one block, or nil if it is absent or null.
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
	block := append(make([]byte, 0, len(text)+64), `{"type":"text","text":`...)
	return append(jsontext.AppendString(block, text), '}')
}

// Redact returns text without secrets, URL credentials, directories of absolute paths and unsafe characters. Clean text is
// returned unchanged, without allocation. Redact is idempotent and takes linear time. The constructors of package candor apply it
// to every text in an error; use it for other text, such as a log.
func Redact(text string) string { return redact.Text(text) }
