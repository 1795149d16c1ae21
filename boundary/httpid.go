package boundary

import (
	"bytes"
	"strconv"

	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/wire"
)

// The SDK reads ids through float64 and answers 9007199254740993 with 9007199254740992, and 1.5 with 1. An id that would
// not survive is handed to it as a text that holds the original token behind a mark, and is put back on the way out. The
// text tells everything, so nothing has to be remembered.

const maxSafeInteger = 1 << 53

// plainID reports an id that the SDK writes as it was written: a text, or a whole number that a float64 holds.
func plainID(id wire.ID) bool {
	v := id.Value()
	if v.Type() != wire.TypeNumber {
		return true
	}
	n, ok := v.Int64()
	if !ok || n > maxSafeInteger || n < -maxSafeInteger {
		return false
	}
	var spelling [20]byte
	return bytes.Equal(strconv.AppendInt(spelling[:0], n, 10), id) // not -0
}

// markedID returns the text that stands for an id, and false for one that needs none.
func (b *Boundary) markedID(id wire.ID) ([]byte, bool) {
	if len(id) == 0 || plainID(id) {
		return nil, false
	}
	return append(append(b.idMark(), id...), '"'), true
}

func (b *Boundary) idMark() []byte { return []byte(`"candor-id:` + throughNonce + `:`) }

// hideIDs replaces the ids in a message that the SDK would change. It returns nil if there are none.
func (b *Boundary) hideIDs(m *wire.Message) []byte {
	path, id := []string{"id"}, m.ID()
	if m.MethodIs("notifications/cancelled") {
		path, id = []string{"params", "requestId"}, wire.ID(m.Params().Path("requestId").Raw())
	}
	marked, ok := b.markedID(id)
	if !ok {
		return nil
	}
	out, err := splice.SetMember(nil, m.Bytes(), path, marked)
	if err != nil {
		return nil
	}
	return out
}

// showIDs puts the original ids back. It returns data itself if there are none.
func (b *Boundary) showIDs(data []byte) []byte {
	mark := b.idMark()
	at := bytes.Index(data, mark)
	if at < 0 {
		return data
	}
	var out []byte
	for at >= 0 {
		token := data[at+len(mark):]
		end := bytes.IndexByte(token, '"')
		if end < 0 || !isNumber(token[:end]) {
			break
		}
		out = append(append(out, data[:at]...), token[:end]...)
		data = token[end+1:]
		at = bytes.Index(data, mark)
	}
	return append(out, data...)
}

func isNumber(token []byte) bool {
	v, err := wire.ParseValue(token, wire.Limits{})
	return err == nil && v.Type() == wire.TypeNumber
}
