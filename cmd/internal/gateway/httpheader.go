package gateway

import (
	"net/http"
	"strings"
)

// isHopByHop reports a header that concerns one connection and is never passed on (RFC 9110, 7.6.1).
func isHopByHop(name string) bool {
	switch name {
	case "Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade":
		return true
	default:
		return false
	}
}

// notOnward are the headers of a request that are ours to set: its body has been read, and answers are asked for without compression,
// because they have to be read.
var notOnward = [...]string{"Accept-Encoding", "Content-Length", "Expect", "Host"}

// onward is what the upstream gets of the headers of a request.
func (d *httpDoor) onward(h http.Header) http.Header {
	out := make(http.Header, len(h)+1)
	copyHeader(out, h)
	for _, name := range notOnward {
		delete(out, name)
	}
	if d.o.Token != "" {
		delete(out, "Authorization") // it was meant for us
	}
	out["Accept-Encoding"] = identity
	for name, values := range d.o.Header {
		out[http.CanonicalHeaderKey(name)] = values
	}
	return out
}

var identity = []string{"identity"} // shared, never changed

// copyHeader copies what is not meant for one connection alone. The values are shared.
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

func mediaType(h http.Header) string {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}
