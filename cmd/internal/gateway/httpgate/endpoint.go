package httpgate

import (
	"bytes"
	"log/slog"
	"net/url"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/netpolicy"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/ref"
	"github.com/candor-mcp/candor/internal/wireflaw"
)

// legacyKey is the query parameter with the key of a legacy session, in the message address that the gateway sends to clients.
const legacyKey = "candor"

// maxEndpoint bounds the length of the message address of a legacy server.
const maxEndpoint = 8 << 10

// isEndpoint reports whether an event announces the message address of a legacy server. Its type is compared loosely,
// because clients may do so too: an event that passed unchanged would let the server redirect their calls, with their
// credentials, to any address.
func isEndpoint(e *framing.Event) bool {
	return bytes.EqualFold(bytes.TrimSpace(e.Type), []byte("endpoint"))
}

// handleEndpoint returns the bytes that the client gets for an endpoint event. The first one begins a legacy session. A
// further one with the same address is dropped, and so is one on a stream that is not a legacy stream. Another address
// ends the stream with an error.
func (o *stream) handleEndpoint(e *framing.Event) []byte {
	switch {
	case e.Unended, e.Flaw == wireflaw.None && len(e.Data) == 0:
		return nil // clients do not act on it
	case o.legacy == "" && o.s != nil, string(e.Type) != "endpoint":
		o.x.logEndpoint(e, "not the endpoint event of a legacy session")
		return nil
	case e.Flaw != wireflaw.None, len(e.Data) > maxEndpoint:
		return o.refuseEndpoint(e, "the address is too long")
	}
	endpoint, reason := o.x.Handler.endpoint(string(e.Data))
	switch {
	case reason != "":
		return o.refuseEndpoint(e, reason)
	case o.legacy == "":
		return o.beginLegacy(e, endpoint)
	case *endpoint != *o.s.endpoint:
		return o.refuseEndpoint(e, "the address changed during the session")
	}
	return nil
}

// endpoint parses the message address, or returns the reason to refuse it. An address on another origin is refused,
// because a server must not redirect a client's messages to a third party.
func (d *Handler) endpoint(said string) (at *url.URL, reason string) {
	at, err := d.target.Parse(said)
	if err != nil {
		return nil, "the address cannot be parsed"
	}
	if !sameOrigin(at, d.target) {
		return nil, "the address is on another origin than the server"
	}
	at.Scheme, at.Host, at.User, at.Fragment, at.RawFragment = d.target.Scheme, d.target.Host, d.target.User, "", ""
	return at, ""
}

// sameOrigin compares scheme, host and port, as defined in RFC 6454.
func sameOrigin(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(netpolicy.HostPort(a), netpolicy.HostPort(b))
}

// beginLegacy replaces the address of a legacy server with one of this gateway. It is relative, so it works behind any proxy.
func (o *stream) beginLegacy(e *framing.Event, endpoint *url.URL) []byte {
	d := o.x.Handler
	key := ref.New()
	d.legacy.makeSpace(d.Options.SessionIdleTimeout)
	o.s = d.legacy.note(key, func() *session { return &session{up: d.up, endpoint: endpoint} })
	if o.s == nil {
		return o.end(gateway.NewError(candor.CodeTooManySessions))
	}
	o.legacy = key
	o.s.attach(o)
	out, err := e.AppendWithData(nil, []byte("?"+url.Values{legacyKey: {key}}.Encode()))
	if err != nil {
		return nil
	}
	return out
}

// refuseEndpoint ends the stream with an error. Without an address the client would wait forever.
func (o *stream) refuseEndpoint(e *framing.Event, reason string) []byte {
	o.x.logEndpoint(e, reason)
	return o.end(candor.New(candor.CodeUpstreamBadResponse, "The server named an address for messages that the gateway does not use.",
		candor.WithOrigin(candor.PartyGateway, false), candor.WithRetry(candor.Retry{}), candor.WithDetails(map[string]any{"reason": reason}),
		candor.WithSuggestion("Ask the operator to check the server and the URL that is configured for it.")))
}

// logEndpoint logs an endpoint event that is not forwarded, up to a few times per stream.
func (x *Exchange) logEndpoint(e *framing.Event, reason string) {
	if x.strays++; x.strays > maxHTTPStrays {
		return
	}
	u := x.Handler.up
	said := gateway.Excerpt(u.Secrets.Load().Redact(e.Data[:min(len(e.Data), maxEndpoint)]), len(e.Data) <= maxEndpoint, gateway.MaxNoiseBytes)
	u.Options.Logger.WarnContext(x.Context, "endpoint refused", slog.String("reason", reason), slog.String("endpoint", said))
}

// end records an error and returns the event for the client. No further event of the server is forwarded.
func (o *stream) end(e *candor.Error) []byte {
	o.over = true
	answer := o.x.Handler.up.RejectUnread(o.x.Context, o.x.Session, e)
	out, err := framing.AppendEvent(nil, framing.Event{Type: []byte("error"), Data: answer, HasData: true})
	if err != nil {
		return nil
	}
	return out
}
