package httpgate

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/wire"
)

// peer returns the origin of a request over HTTP, as far as the upstream can distinguish callers: by the forwarded
// headers and query, which include the session, and by the client data in _meta. A server may list different tools to
// different callers, so a list is used only for requests that look the same.
func (x *Exchange) peer(m *wire.Message) gateway.Peer {
	from := gateway.Peer{Session: x.Session, Breaker: x.Handler.up.Breaker, Cache: &x.Handler.up.Tools, Trace: x.Handler.up.TraceOf(x.Request.Header)}
	if m.MethodIs("tools/call") || m.MethodIs("tools/list") {
		from.Caller.Digest = x.callerDigest(m)
	}
	return from
}

// callerDigest returns the digest of all data that distinguishes callers. Each part is prefixed with its length, so
// that different parts cannot yield the same text.
func (x *Exchange) callerDigest(m *wire.Message) [sha256.Size]byte {
	var text []byte
	add := func(part string) { text = append(binary.AppendUvarint(text, uint64(len(part))), part...) }
	for _, name := range slices.Sorted(maps.Keys(x.Request.Header)) {
		if isPerRequest(name) {
			continue
		}
		add(name)
		for _, value := range x.Request.Header[name] {
			add(value)
		}
		add("")
	}
	add(x.Request.URL.RawQuery)
	meta := m.Params().Path("_meta")
	for _, name := range gateway.ClientMetaKeys {
		add(string(meta.Path(name).Raw()))
	}
	return sha256.Sum256(text)
}

// isPerRequest reports whether a header differs between requests of one caller and does not identify the caller. All
// other headers may identify it: if a client changes one of them with every request, its calls are not checked.
func isPerRequest(name string) bool {
	switch name {
	case "Accept", "Accept-Encoding", "Content-Length", "Content-Type", "Connection", "Date", "Expect", "Idempotency-Key", "Keep-Alive",
		"Last-Event-Id", "Mcp-Method", "Mcp-Name", "Te", "Traceparent", "Tracestate", "Transfer-Encoding", "X-Correlation-Id", "X-Request-Id":
		return true
	default:
		return strings.HasPrefix(name, "Mcp-Param-")
	}
}
