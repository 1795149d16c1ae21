package candortest

import (
	"net/http"
	"strconv"

	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/wire"
)

// Era is a generation of the protocol, named by the version that the kit asks for.
type Era string

// The eras. Era2025 begins with initialize and keeps a session; a server may answer with an older version, and rules
// that are newer than that version are then skipped. Era2026 is stateless, and every request carries its client and version.
const (
	Era2025 Era = "2025-11-25"
	Era2026 Era = "2026-07-28"
)

// Eras returns the eras that the kit supports, the older first. The caller owns the slice.
func Eras() []Era { return []Era{Era2025, Era2026} }

const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaClient       = `"io.modelcontextprotocol/clientInfo":{"name":"candortest","version":"1"}`
)

// meta returns the _meta that every request of the era carries, or nil.
func (e Era) meta() []byte {
	if e != Era2026 {
		return nil
	}
	return []byte(`{"` + metaVersion + `":"` + string(e) + `","` + metaCapabilities + `":{},` + metaClient + `}`)
}

// request returns a request of the era. params is a JSON object, or "" for the minimum that the era allows.
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

// probe returns a request that every server of the era answers with a result.
func (e Era) probe(id string) []byte {
	if e == Era2026 {
		return e.request(id, "server/discover", "")
	}
	return e.request(id, "ping", "")
}

// opening returns the first request of a connection.
func (e Era) opening(id string) []byte {
	if e == Era2026 {
		return e.probe(id)
	}
	return e.request(id, "initialize", `{"protocolVersion":"`+string(e)+`","capabilities":{},"clientInfo":{"name":"candortest","version":"1"}}`)
}

// header returns the HTTP headers that the era requires for a message after version was negotiated.
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

// printable removes the bytes that a header must not contain, so that an intentionally invalid message still reaches the server.
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
