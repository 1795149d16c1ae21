package boundary

import (
	"bytes"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/candor-mcp/candor/internal/ref"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/wire"
)

// The SDK decodes ids as float64: it answers 9007199254740993 with 9007199254740992, and 1.5 with 1. An id that would change is
// replaced by a string that contains a mark and the original token, and is restored in the answer. The string contains the whole id,
// so no state is kept.

const maxSafeInteger = 1 << 53

// plainID reports whether the SDK preserves an id: a string, or an integer that a float64 can represent exactly.
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

// markedID returns the string that replaces an id, and false for an id that the SDK preserves.
func markedID(id wire.ID) ([]byte, bool) {
	if len(id) == 0 || plainID(id) {
		return nil, false
	}
	return append(append(bytes.Clone(idMark), id...), '"'), true
}

// idMark begins a string that replaces an id. Clients do not know the nonce in it.
var idMark = []byte(`"candor-id:` + ref.New() + `:`)

// sdkID returns the id that the SDK is given for a call on a stream.
func sdkID(id wire.ID) jsonrpc.ID {
	var name any
	if marked, ok := markedID(id); ok {
		name = string(marked[1 : len(marked)-1])
	} else if n, ok := id.Value().Int64(); ok {
		name = float64(n)
	} else {
		name, _ = id.Value().Str()
	}
	known, _ := jsonrpc.MakeID(name) // MakeID accepts every float64 and string
	return known
}

// hideIDs replaces the id in a message that the SDK would change. It returns nil if the id needs no replacement.
func hideIDs(m *wire.Message) []byte {
	path, id := []string{"id"}, m.ID()
	if m.MethodIs("notifications/cancelled") {
		path, id = []string{"params", "requestId"}, wire.ID(m.Params().Path("requestId").Raw())
	}
	marked, ok := markedID(id)
	if !ok {
		return nil
	}
	out, err := splice.SetMember(nil, m.Bytes(), path, marked)
	if err != nil {
		return nil
	}
	return out
}

// showIDs restores the original ids. It returns data itself if it contains no hidden ids.
func showIDs(data []byte) []byte {
	at := bytes.Index(data, idMark)
	if at < 0 {
		return data
	}
	var out []byte
	for at >= 0 {
		token := data[at+len(idMark):]
		end := bytes.IndexByte(token, '"')
		if end < 0 || !isNumber(token[:end]) {
			break
		}
		out = append(append(out, data[:at]...), token[:end]...)
		data = token[end+1:]
		at = bytes.Index(data, idMark)
	}
	return append(out, data...)
}

func isNumber(token []byte) bool {
	v, err := wire.ParseValue(token, wire.Limits{})
	return err == nil && v.Type() == wire.TypeNumber
}
