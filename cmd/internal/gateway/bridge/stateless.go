package bridge

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/wire"
)

const (
	statelessVersion = "2026-07-28" // the first version without sessions
)

// sessionVersions are the versions that begin with initialize, newest first.
var sessionVersions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// isStateless reports whether a message comes from a client without a session.
func isStateless(h http.Header, m *wire.Message) bool {
	return m.Params().Path("_meta", gateway.ProtocolVersionKey).Present() || h.Get(httpgate.VersionHeader) >= statelessVersion
}

// withoutSession forwards a message from a client without a session to the server that such clients share.
func (x *exchange) withoutSession(m *wire.Message) {
	if m.Kind() != wire.KindRequest {
		x.Respond(http.StatusAccepted, nil) // such clients cancel by closing the connection, and a shared server needs no other notification
		return
	}
	if name := httpgate.HeaderMismatch(x.Request.Header, m); name != "" {
		x.refuse(m, http.StatusBadRequest, gateway.NewError(candor.CodeHeaderMismatch, "header", name))
		return
	}
	p := &x.b.stateless
	h, err := (*host)(nil), errStateful
	if !p.avoided(x.b.up.Options.Now()) {
		tool, _ := m.Params().Path("name").Str()
		h, err = p.enter(x.Context, x.b, func(h *host) error { return x.b.discover(x.Context, h, x.b.up.Timeout(tool)) })
	}
	switch {
	case errors.Is(err, errStateful):
		p.avoid(x.b.up.Options.Now().Add(x.b.o.HTTP.SessionIdleTimeout))
		requested, _ := m.Params().Path("_meta", gateway.ProtocolVersionKey).Str()
		x.refuse(m, http.StatusBadRequest, candor.New(candor.CodeProtocolVersionUnsupported, "", candor.WithOrigin(candor.PartyGateway, false),
			candor.WithDetails(map[string]any{"supported": sessionVersions, "requested": requested, "beside": []string{"supported", "requested"}})))
		return
	case err != nil:
		x.failToStart(m, err)
		return
	}
	defer p.leave(x.b)
	x.ask(h, nil, m)
}

// errStateful is the error for a server that requires a session.
var errStateful = errors.New("the server does not answer server/discover")

// avoid notes that the server requires sessions, until the given time: it may be replaced by another one.
func (p *pool) avoid(until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.until.IsZero() {
		p.until = until
	}
}

func (p *pool) avoided(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Before(p.until) {
		return true
	}
	p.until = time.Time{}
	return false
}

// discover checks whether a server serves clients without a session, within the timeout of the call. Only an answer can deny it:
// a server that ends or is silent is asked again.
func (b *Bridge) discover(ctx context.Context, h *host, limit time.Duration) error {
	if limit <= 0 || limit > discoverTimeout {
		limit = discoverTimeout
	}
	params := `{"_meta":{"` + gateway.ProtocolVersionKey + `":"` + statelessVersion + `","io.modelcontextprotocol/clientInfo":{"name":"candor","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{}}}`
	m, err := h.server.Ask(ctx, "server/discover", []byte(params), limit)
	switch {
	case err != nil:
		return err
	case m == nil || m.Kind() != wire.KindResult:
		return errStateful
	default:
		b.up.Describe(m, statelessVersion)
		return nil
	}
}

// discoverTimeout is how long a server may take to answer server/discover.
const discoverTimeout = 30 * time.Second

// statelessStatus returns the HTTP status for an answer. Since version 2026-07-28 protocol errors determine it.
func statelessStatus(answer []byte, limits wire.Limits) int {
	m := wire.Parse(answer, limits)
	if m.Kind() != wire.KindError {
		return http.StatusOK
	}
	switch string(m.Error().Path("code").Raw()) {
	case "-32601":
		return http.StatusNotFound
	case "-32600", "-32602", "-32020", "-32021", "-32022":
		return http.StatusBadRequest
	default:
		return http.StatusOK
	}
}
