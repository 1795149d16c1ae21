package contract

import (
	"bytes"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/audience"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/wire"
)

// valueMember is the member under which [Normalise] keeps a data or _meta value that is not an object.
const valueMember = "value"

// Client is what a client program shows its model of an answer. The zero Client is an unknown program, which may show anything that a
// known one shows.
type Client = audience.Client

// Clients returns the known clients, which are the rows of spec/clients.json. The caller must not change them.
func Clients() []Client { return audience.All() }

// ClientOf returns the client with that name, or with that name in clientInfo, or the zero Client.
func ClientOf(name string) Client { return audience.Find(name) }

// Normalise appends the failing answer m to dst with the canonical error e attached as its client needs it, and returns the extended
// slice.
//
// A result gains _meta["dev.candor/error"], a readable text block in front of its own blocks, and isError; a JSON-RPC error gains
// data["dev.candor/error"], and if it answers tools/call, the readable text is its message. A text that the readable block repeats whole
// is left out. Every other byte is kept, with these exceptions:
//
//   - A canonical error that m already carries is replaced, and so are its text and its copy in structuredContent.
//   - If the client may show structuredContent instead of the text, or refuse an answer in which it does not match the tool's outputSchema,
//     it is moved to details.structuredContent, which is bounded.
//   - If the client shows _meta or data to its model, the canonical error there is in its brief form.
//   - A data or _meta value that is not an object becomes the member "value" of a new object, and content that is not a list becomes a
//     list of one block.
//   - Line ends by which the message of a JSON-RPC error imitates lines of the readable block are replaced.
//
// Normalise is idempotent: an answer that already carries exactly this error is returned unchanged. So is one with an
// error that is not an object. Data that is exactly {"uri": …}, by which clients recognise a missing resource, is kept.
//
// Do not pass a suspected failure unless a rule for that tool allows it, because isError is set to true.
func Normalise(dst []byte, m *wire.Message, e *candor.Error, to Client) ([]byte, error) { //nolint:gocritic // a row is read once
	n := normaliser{m: m, e: e, to: &to, before: attached(m)}
	if m.Value().Type() != wire.TypeObject {
		return append(dst, m.Bytes()...), nil
	}
	n.keepStructured()
	envelope := n.e.AppendJSON(make([]byte, 0, 768), candor.JSONOptions{Lean: true, Brief: n.brief()}) // enough for most envelopes
	if bytes.Equal(n.before.Raw(), envelope) {
		return append(dst, m.Bytes()...), nil
	}
	var text [maxBlock]byte
	n.block = n.withDirectories(string(dialect.AppendText(text[:0], n.e)))
	switch {
	case m.Shape() == wire.KindError && m.Error().Type() == wire.TypeObject:
		edits := make([]splice.Edit, 0, 2)
		data, _ := m.Error().Get("data")
		if !onlyURI(data) {
			edits = append(edits, envelopeEdit([]string{"error", "data"}, data, envelope))
		}
		if said, ok := m.Error().Path("message").Str(); ok {
			shown := redact.FoldLines(said)
			if !onlyURI(data) {
				shown = n.message(said)
			}
			if shown != said {
				edits = append(edits, splice.Edit{Path: []string{"error", "message"}, Value: jsontext.AppendString(nil, shown)})
			}
		}
		if len(edits) == 0 {
			return append(dst, m.Bytes()...), nil
		}
		return edited(dst, m, edits...)
	case m.Shape() == wire.KindResult && m.Result().Type() == wire.TypeObject:
		return n.result(dst, envelope)
	default:
		return append(dst, m.Bytes()...), nil
	}
}

// normaliser attaches one error to one answer.
type normaliser struct {
	m      *wire.Message
	e      *candor.Error
	to     *Client
	before wire.Value // the canonical error that m carries, or the absent value
	moved  bool       // structuredContent is in the details of e
	block  string     // the readable block of e
}

func (n *normaliser) brief() bool {
	return n.to.Meta && n.m.Shape() == wire.KindResult || n.to.Error == "data" && n.m.Shape() == wire.KindError
}

// keepStructured copies structuredContent that would or might hide the error to its details, or the copy that an earlier pass has made.
func (n *normaliser) keepStructured() {
	content, ok := n.m.ResultMember("structuredContent")
	if !ok && n.before.Path("ref").Is(n.e.Ref()) {
		content, ok = n.before.Path("details", audience.StructuredMember), n.before.Path("details", audience.StructuredMember).Present()
	}
	if n.m.Shape() != wire.KindResult || !ok || !n.to.HidesText() && !n.to.Validates || mirrored(n.m) {
		return
	}
	n.moved, n.e = true, audience.WithStructured(n.e, content.Raw())
}

// maxBlock is the limit of [dialect.AppendText].
const maxBlock = 1024

// withDirectories returns the readable block with the server's sentence as the answer has it, if the error has it without the directories
// of paths: the client gets them anyway, and a model needs them for the next call.
func (n *normaliser) withDirectories(block string) string {
	message := n.e.Message()
	if !strings.Contains(message, "…/") || strings.Contains(message, "\n") {
		return block
	}
	content, _ := n.m.ResultMember("content")
	said, ok := content.Path(0, "text").Str()
	if n.m.Shape() == wire.KindError {
		said, ok = n.m.Error().Path("message").Str()
	}
	said = strings.TrimSpace(said)
	for rest := said; ok && rest != ""; _, rest, ok = strings.Cut(rest, ": ") {
		if candor.Public(rest, maxBlock) == message && len(block)+len(rest)-len(message) <= maxBlock {
			return strings.Replace(block, message, rest, 1)
		}
	}
	return block
}

// message returns the message of a JSON-RPC error. If it answers tools/call, that is the readable block, because many clients show only
// the message.
func (n *normaliser) message(said string) string {
	switch {
	case n.e.CallInfo().Tool == "":
		return redact.FoldLines(said)
	case n.repeats(said):
		return n.block
	default:
		return audience.Message(n.block, n.e.Message(), said)
	}
}

// repeats reports whether the readable block makes a text of the answer superfluous.
func (n *normaliser) repeats(text string) bool {
	return isReadableBlock(text, n.before) || audience.Repeats(n.block, n.e.Message(), text)
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

// envelopeEdit returns the edit that adds the envelope to the object at path, now holder. A holder of another
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

func (n *normaliser) result(dst, envelope []byte) ([]byte, error) {
	m := n.m
	if _, present := m.ResultMember("structuredContent"); present && n.moved {
		without, err := splice.RemoveMember(nil, m.Bytes(), []string{"result", "structuredContent"})
		if err != nil {
			return dst, err
		}
		next := wire.Parse(without, wire.Limits{MaxBytes: len(without), AllowLoneSurrogates: true})
		m = &next
	}
	meta, _ := m.ResultMember("_meta")
	edits := make([]splice.Edit, 0, 5)
	edits = append(edits, envelopeEdit([]string{"result", "_meta"}, meta, envelope))
	if edit, ok := correlationEdit(meta, n.before, n.e); ok {
		edits = append(edits, edit)
	}
	if mirrored(m) {
		edits = append(edits, splice.Edit{Path: []string{"result", "structuredContent"}, Value: envelope})
	}
	edits = append(edits, n.blockEdit(m), splice.Edit{Path: []string{"result", "isError"}, Value: []byte("true")})
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
func (n *normaliser) blockEdit(m *wire.Message) splice.Edit {
	content, _ := m.ResultMember("content")
	if edit, ok := ownBlockEdit(content, n.before, []byte(n.block)); ok {
		return edit
	}
	path, block := []string{"result", "content"}, textBlock([]byte(n.block))
	kept, all := make([][]byte, 0, 8), 0
	if content.Type() != wire.TypeArray {
		kept = append(kept, blockOf(content))
	}
	for theirs := range content.Elements() {
		all++
		if text, ok := theirs.Path("text").Str(); !ok || !theirs.Path("type").Is("text") || !n.repeats(text) {
			kept = append(kept, theirs.Raw())
		}
	}
	if content.Type() == wire.TypeArray && len(kept) == all {
		return splice.Edit{Path: path, Value: block, Insert: true} // keeps the white space
	}
	list := append([]byte{'['}, block...)
	for _, theirs := range kept {
		if theirs != nil {
			list = append(append(list, ','), theirs...)
		}
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
