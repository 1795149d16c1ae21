package mcpclient

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"

	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/wire"
)

// The newest versions of the two protocol eras. The first has sessions, which begin with initialize; in the second every
// request names its client and version.
const (
	VersionSession   = "2025-11-25"
	VersionStateless = "2026-07-28"
)

// Initialized is the notification that ends the handshake with a session.
const Initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// Request returns a request. id and params are JSON; params "" are left out.
func Request(id, method, params string) []byte {
	raw := jsontext.AppendString([]byte(`{"jsonrpc":"2.0","id":`+id+`,"method":`), method)
	if params != "" {
		raw = append(append(raw, `,"params":`...), params...)
	}
	return append(raw, '}')
}

// CallParams returns the params of tools/call. arguments is JSON.
func CallParams(tool, arguments string) string {
	return string(jsontext.AppendString([]byte(`{"name":`), tool)) + `,"arguments":` + arguments + `}`
}

// InitializeParams returns the params of initialize for a client of that name.
func InitializeParams(client string) string {
	return `{"protocolVersion":"` + VersionSession + `","capabilities":{},"clientInfo":` + clientInfo(client) + `}`
}

func clientInfo(client string) string { return fmt.Sprintf(`{"name":%q,"version":"1"}`, client) }

// AddMeta adds the members of _meta that a request without a session requires. Params that are not an object stay unchanged;
// nil becomes an object.
func AddMeta(params []byte, client string) []byte {
	if params == nil {
		params = []byte(`{}`)
	}
	const prefix = "io.modelcontextprotocol/"
	for _, member := range [][2]string{
		{prefix + "protocolVersion", `"` + VersionStateless + `"`}, {prefix + "clientInfo", clientInfo(client)}, {prefix + "clientCapabilities", `{}`},
	} {
		if with, err := splice.SetMember(nil, params, []string{"_meta", member[0]}, []byte(member[1])); err == nil {
			params = with
		}
	}
	return params
}

// setHeaders sets the headers that a protocol version requires for a message.
func setHeaders(h http.Header, m *wire.Message, version string) {
	if m.MethodIs("initialize") || version == "" {
		return
	}
	h.Set("Mcp-Protocol-Version", version)
	if version < VersionStateless { // versions are dates
		return
	}
	if method := m.Method(); method != nil {
		h.Set("Mcp-Method", HeaderValue(string(method)))
	}
	for _, name := range []string{"name", "uri"} {
		if text, ok := m.Params().Path(name).Str(); ok {
			h.Set("Mcp-Name", HeaderValue(text))
		}
	}
}

// HeaderValue encodes a text for a header if it is not printable, has space at its ends, or looks like an encoded value.
func HeaderValue(text string) string {
	const open, end = "=?base64?", "?="
	odd := func(r rune) bool { return r < ' ' || r >= 0x7f }
	if strings.ContainsFunc(text, odd) || strings.TrimSpace(text) != text || strings.HasPrefix(text, open) && strings.HasSuffix(text, end) {
		return open + base64.StdEncoding.EncodeToString([]byte(text)) + end
	}
	return text
}
