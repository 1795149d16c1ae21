package httpgate

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
	"sync"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/wire"
)

// peer returns the origin of a request over HTTP, as far as the upstream can distinguish callers: by the forwarded headers and
// query, which include the session, and by the client data in _meta. A server may list different tools to different callers, so a
// list is used only for requests that look the same.
func (x *Exchange) peer(m *wire.Message) gateway.Peer {
	from := gateway.Peer{Session: x.Session, Breaker: x.Handler.up.Breaker, Cache: &x.Handler.up.Tools, Trace: x.Handler.up.TraceOf(x.Request.Header)}
	if m.MethodIs("tools/call") || m.MethodIs("tools/list") {
		from.Caller.Digest = x.callerDigest(m)
	}
	return from
}

// callerSpace holds the buffers for computing a caller digest.
type callerSpace struct {
	names []string
	text  []byte
}

var callerSpaces = sync.Pool{New: func() any { return new(callerSpace) }}

// maxCallerSpace is the size of the largest buffer that is reused.
const maxCallerSpace = 64 << 10

// callerDigest returns the digest of all data that distinguishes callers. Each part is prefixed with its length, so that
// different parts cannot yield the same text.
func (x *Exchange) callerDigest(m *wire.Message) [sha256.Size]byte {
	space := callerSpaces.Get().(*callerSpace) //nolint:errcheck,forcetypeassert // the pool holds nothing else
	space.names, space.text = space.names[:0], space.text[:0]
	for name := range x.Request.Header {
		if !isPerRequest(name) {
			space.names = append(space.names, name)
		}
	}
	slices.Sort(space.names)
	for _, name := range space.names {
		space.add(name)
		for _, value := range x.Request.Header[name] {
			space.add(value)
		}
		space.add("")
	}
	space.add(x.Request.URL.RawQuery)
	meta := m.Params().Path("_meta")
	for _, name := range gateway.ClientMetaKeys {
		space.addBytes(gateway.Member(meta, name).Raw())
	}
	digest := sha256.Sum256(space.text)
	if cap(space.text) <= maxCallerSpace {
		callerSpaces.Put(space)
	}
	return digest
}

func (s *callerSpace) add(part string) {
	s.text = append(binary.AppendUvarint(s.text, uint64(len(part))), part...)
}

func (s *callerSpace) addBytes(part []byte) {
	s.text = append(binary.AppendUvarint(s.text, uint64(len(part))), part...)
}

// isPerRequest reports whether a header differs between requests of one caller and does not identify the caller. All other
// headers may identify it: if a client changes one of them with every request, its calls are not checked.
func isPerRequest(name string) bool {
	switch name {
	case "Accept", "Accept-Encoding", "Content-Length", "Content-Type", "Connection", "Date", "Expect", "Idempotency-Key", "Keep-Alive",
		"Last-Event-Id", "Mcp-Method", "Mcp-Name", "Te", "Traceparent", "Tracestate", "Transfer-Encoding", "X-Correlation-Id", "X-Request-Id":
		return true
	default:
		return strings.HasPrefix(name, "Mcp-Param-")
	}
}
