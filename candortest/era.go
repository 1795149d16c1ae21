package candortest

import (
	"net/http"
	"strconv"

	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/wire"
)

// Era is a generation of the protocol, named by the version that the kit asks for.
type Era string

// The eras. The first opens with initialize and keeps a session; a server may answer with an older version, and rules that
// are younger than that are then skipped. The second is stateless, and every request says who asks and in which version.
const (
	Era2025 Era = "2025-11-25"
	Era2026 Era = "2026-07-28"
)

// Eras returns the eras that the kit speaks, the older first. The caller owns the slice.
func Eras() []Era { return []Era{Era2025, Era2026} }

const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaClient       = `"io.modelcontextprotocol/clientInfo":{"name":"candortest","version":"1"}`
)

// meta returns the _meta that every request of the era carries; nil for none.
func (e Era) meta() []byte {
	if e != Era2026 {
		return nil
	}
	return []byte(`{"` + metaVersion + `":"` + string(e) + `","` + metaCapabilities + `":{},` + metaClient + `}`)
}

// request writes a request of the era. params is a JSON object, or "" for the least the era allows.
func (e Era) request(id, method, params string) []byte {
	if params == "" {
		params = `{}`
	}
	whole := []byte(params)
	if meta := e.meta(); meta != nil {
		if with, err := splice.SetMember(nil, whole, []string{"_meta"}, meta); err == nil {
			whole = with
		}
	}
	return []byte(`{"jsonrpc":"2.0","id":` + id + `,"method":` + quote(method) + `,"params":` + string(whole) + `}`)
}

// probe is a request that every server of the era answers with a result.
func (e Era) probe(id string) []byte {
	if e == Era2026 {
		return e.request(id, "server/discover", "")
	}
	return e.request(id, "ping", "")
}

// opening is the first request of a connection.
func (e Era) opening(id string) []byte {
	if e == Era2026 {
		return e.probe(id)
	}
	return e.request(id, "initialize", `{"protocolVersion":"`+string(e)+`","capabilities":{},"clientInfo":{"name":"candortest","version":"1"}}`)
}

// header returns what the era wants beside the message over HTTP, if version was agreed on.
func (e Era) header(message []byte, version string) http.Header {
	m := wire.Parse(message, wire.Limits{})
	h := http.Header{}
	if !m.MethodIs("initialize") {
		h.Set("Mcp-Protocol-Version", version)
	}
	if e != Era2026 {
		return h
	}
	if method := m.Method(); method != nil {
		h.Set("Mcp-Method", printable(string(method)))
	}
	for _, name := range []string{"name", "uri"} {
		if text, ok := m.Params().Path(name).Str(); ok && !m.MethodIs("initialize") {
			h.Set("Mcp-Name", printable(text))
		}
	}
	return h
}

// printable keeps what a header may hold; a message that is wrong on purpose must still get as far as the server.
func printable(text string) string {
	out := make([]byte, 0, len(text))
	for _, b := range []byte(text) {
		if b >= ' ' && b < 0x7f {
			out = append(out, b)
		}
	}
	return string(out)
}

func quote(text string) string { return string(wire.AppendString(nil, text)) }

func number(n int) string { return strconv.Itoa(n) }
