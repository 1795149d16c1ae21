package httpgate

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/internal/httpguard"
	"github.com/candor-mcp/candor/wire"
)

// isHopByHop reports whether a header applies to a single connection and is never forwarded (RFC 9110, section 7.6.1).
func isHopByHop(name string) bool {
	switch name {
	case "Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade":
		return true
	default:
		return false
	}
}

// notOnward lists the request headers that the gateway sets, and those that are for it alone. The body has been read, and answers are
// requested without compression, because they have to be read. A CGI server would take Proxy for the variable HTTP_PROXY.
var notOnward = [...]string{"Accept-Encoding", "Content-Length", "Expect", "Host", "Http2-Settings", "Proxy"}

// onward returns the headers of a request for the upstream.
func (d *Handler) onward(h http.Header) http.Header {
	out := make(http.Header, len(h)+1)
	copyHeader(out, h)
	for _, name := range notOnward {
		delete(out, name)
	}
	if d.Options.Token != "" {
		delete(out, "Authorization") // it was meant for the gateway
	}
	if cookies := withoutLogins(out["Cookie"]); len(cookies) == 0 {
		delete(out, "Cookie")
	} else {
		out["Cookie"] = cookies
	}
	out["Accept-Encoding"] = identity
	for name, values := range d.Options.Header {
		out[http.CanonicalHeaderKey(name)] = values
	}
	return out
}

// withoutLogins returns the headers Cookie without logins to a console of this machine, which a browser sends to the
// gateway too.
func withoutLogins(cookies []string) (kept []string) {
	for _, line := range cookies {
		list := slices.DeleteFunc(strings.Split(line, ";"), func(c string) bool { return strings.HasPrefix(strings.TrimSpace(c), httpguard.ConsoleCookie) })
		if len(list) > 0 {
			kept = append(kept, strings.TrimSpace(strings.Join(list, ";")))
		}
	}
	return kept
}

var identity = []string{"identity"} // shared, never changed

// copyHeader copies end-to-end headers. The values are shared.
func copyHeader(to, from http.Header) {
	for name, values := range from {
		if !isHopByHop(name) {
			to[name] = values
		}
	}
	for _, list := range from["Connection"] {
		for name := range strings.SplitSeq(list, ",") {
			delete(to, http.CanonicalHeaderKey(strings.TrimSpace(name)))
		}
	}
}

// VersionHeader is the header with the protocol version.
const VersionHeader = "Mcp-Protocol-Version"

// HeaderMismatch returns the name of a header that contradicts the message or is missing, or "".
func HeaderMismatch(h http.Header, m *wire.Message) string {
	if version, ok := m.Params().Path("_meta", gateway.ProtocolVersionKey).Str(); ok && h.Get(VersionHeader) != version {
		return VersionHeader
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

// headerText returns the decoded value of a header. Values that a header cannot carry are sent as base64.
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
