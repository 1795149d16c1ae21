package gateway

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/ref"
	"github.com/candor-mcp/candor/wire"
)

const (
	versionHeader    = "Mcp-Protocol-Version"
	statelessVersion = "2026-07-28" // the first without sessions
)

// sessionVersions are those that begin by initialize, newest first.
var sessionVersions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// isStateless reports a message of a client that wants no session.
func isStateless(h http.Header, m *wire.Message) bool {
	return m.Params().Path("_meta", protocolVersionKey).Present() || h.Get(versionHeader) >= statelessVersion
}

// withoutSession takes a message of a client that has no session to the server that such clients share.
func (x *bridgeExchange) withoutSession(m *wire.Message) {
	if m.Kind() != wire.KindRequest {
		x.answer(http.StatusAccepted, nil) // a call is called off by hanging up, and nothing else concerns the server
		return
	}
	if name := mismatch(x.r.Header, m); name != "" {
		x.refuse(m, http.StatusBadRequest, fault(candor.CodeHeaderMismatch, "header", name))
		return
	}
	p := &x.b.stateless
	h, err := (*bridgeHost)(nil), errStateful
	if !p.shunned(x.b.up.o.now()) {
		tool, _ := m.Params().Path("name").Str()
		h, err = p.enter(x.ctx, x.b, func(h *bridgeHost) error { return x.b.discover(x.ctx, h, x.b.up.timeout(tool)) })
	}
	switch {
	case errors.Is(err, errStateful):
		p.shun(x.b.up.o.now().Add(x.b.o.HTTP.Rest))
		requested, _ := m.Params().Path("_meta", protocolVersionKey).Str()
		x.refuse(m, http.StatusBadRequest, candor.New(candor.CodeProtocolVersionUnsupported, "", candor.WithOrigin(candor.PartyGateway, false),
			candor.WithDetails(map[string]any{"supported": sessionVersions, "requested": requested, "beside": []string{"supported", "requested"}})))
		return
	case err != nil:
		x.notServed(m, err)
		return
	}
	defer p.leave(x.b)
	x.ask(h, nil, m)
}

// errStateful says that a server wants a session.
var errStateful = errors.New("the server does not answer server/discover")

// shun remembers that a server wants sessions, for a while: it may be another one by then.
func (p *bridgePool) shun(until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.until.IsZero() {
		p.until = until
	}
}

func (p *bridgePool) shunned(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Before(p.until) {
		return true
	}
	p.until = time.Time{}
	return false
}

// discover asks a server whether it serves clients without a session, within the time that the call may take. Only an answer of the
// server says that it does not: one that ends or is silent may serve them when it is asked again.
func (b *Bridge) discover(ctx context.Context, h *bridgeHost, limit time.Duration) error {
	l, e := h.pump.server()
	if e != nil {
		return e
	}
	id := wire.AppendString(nil, "candor/"+ref.New())
	answered := make(chan error, 1)
	p := &pending{key: idKey(id), began: time.Now(), limit: greetTimeout}
	if limit > 0 {
		p.limit = min(limit, greetTimeout)
	}
	p.due = p.began.Add(p.limit)
	p.own = func(m *wire.Message) { answered <- discovered(l, p, m) }
	if e := l.put(p); e != nil {
		return e
	}
	line := append(append([]byte(`{"jsonrpc":"2.0","id":`), id...), `,"method":"server/discover","params":{"_meta":{"`...)
	line = append(line, protocolVersionKey+`":"`+statelessVersion+`","io.modelcontextprotocol/clientInfo":{"name":"candor","version":"1"},`...)
	l.server.send(append(line, `"io.modelcontextprotocol/clientCapabilities":{}}}}`...))
	select {
	case err := <-answered:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-h.pump.ctx.Done():
		return draining()
	}
}

// discovered returns what an answer to server/discover means; m is nil if none came that can be read.
func discovered(l *link, p *pending, m *wire.Message) error {
	if m != nil {
		if m.Kind() == wire.KindResult {
			return nil
		}
		return errStateful
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.over != nil:
		return tooLate(l.over)
	case !time.Now().Before(p.due):
		return fault(candor.CodeCallTimeout, "timeoutMs", p.limit.Milliseconds())
	default:
		return errStateful // it answered with something unreadable
	}
}

// mismatch returns the header that says something else than the message, or nothing where it must; "" if there is none.
func mismatch(h http.Header, m *wire.Message) string {
	if version, ok := m.Params().Path("_meta", protocolVersionKey).Str(); ok && h.Get(versionHeader) != version {
		return versionHeader
	}
	if h.Get("Mcp-Method") != string(m.Method()) {
		return "Mcp-Method"
	}
	member := ""
	switch {
	case m.MethodIs("tools/call"), m.MethodIs("prompts/get"):
		member = "name"
	case m.MethodIs("resources/read"):
		member = "uri"
	default:
		return ""
	}
	if name, ok := m.Params().Path(member).Str(); ok && headerText(h.Get("Mcp-Name")) != name {
		return "Mcp-Name"
	}
	return ""
}

// headerText is a header's value as it is meant: one that a header cannot carry is packed.
func headerText(said string) string {
	packed, isPacked := strings.CutPrefix(said, "=?base64?")
	packed, isWhole := strings.CutSuffix(packed, "?=")
	if !isPacked || !isWhole {
		return said
	}
	text, err := base64.StdEncoding.DecodeString(packed)
	if err != nil {
		return said
	}
	return string(text)
}

// statelessStatus is the status of an answer: since version 2026-07-28 errors of the protocol show in it.
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
