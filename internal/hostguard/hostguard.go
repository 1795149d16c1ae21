// Package hostguard protects a server on a local machine from web pages. It checks the Host and Origin headers, which a browser sets
// and a page cannot forge.
package hostguard

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Guard specifies the hosts and origins that are accepted. The zero value accepts only those of this machine.
type Guard struct {
	Hosts   []string // host names of the server, with or without port; "*" is any. Loopback names are always accepted.
	Origins []string // origins that may send requests; "*" is any. Loopback and same-host origins are always accepted.
}

// KnowsHost reports whether a Host header is accepted. This prevents DNS rebinding: if evil.example resolves to this machine, a page
// of it sends that name as Host.
func (g Guard) KnowsHost(host string) bool {
	name := hostName(host)
	if IsLoopback(name) {
		return true
	}
	for _, known := range g.Hosts {
		if known == "*" || name != "" && (strings.EqualFold(known, host) || strings.EqualFold(known, name)) {
			return true
		}
	}
	return false
}

// KnowsOrigin reports whether the Origin of a request is accepted. This stops requests of other pages in the same browser. A request
// without Origin is accepted, because programs do not send one.
func (g Guard) KnowsOrigin(r *http.Request) bool {
	said := r.Header["Origin"]
	if len(said) == 0 {
		return true
	}
	if len(said) > 1 {
		return false
	}
	for _, known := range g.Origins {
		if known == "*" || strings.EqualFold(strings.TrimSuffix(known, "/"), said[0]) {
			return true
		}
	}
	origin, err := url.Parse(said[0])
	if err != nil || origin.Scheme != "http" && origin.Scheme != "https" || origin.Host == "" {
		return false
	}
	return IsLoopback(origin.Hostname()) || strings.EqualFold(origin.Host, r.Host)
}

// AllowedOrigin returns the value of Access-Control-Allow-Origin for a request whose Origin is one of the Origins: that origin, or
// "*" if only "*" matches. For every other request it returns "", even for loopback origins, which [Guard.KnowsOrigin] accepts.
func (g Guard) AllowedOrigin(r *http.Request) string {
	said := r.Header["Origin"]
	if len(said) != 1 {
		return ""
	}
	allowed := ""
	for _, known := range g.Origins {
		switch {
		case known == "*":
			allowed = "*"
		case strings.EqualFold(strings.TrimSuffix(known, "/"), said[0]):
			return said[0]
		}
	}
	return allowed
}

// hostName returns a Host header without its port and brackets.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

// IsLoopback reports whether name is localhost or a loopback address.
func IsLoopback(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsLoopback()
}

// Bears reports whether the headers have the bearer token. It compares in constant time, so that timing does not reveal the token.
func Bears(h http.Header, token string) bool {
	said := h["Authorization"]
	if len(said) != 1 {
		return false
	}
	scheme, got, _ := strings.Cut(said[0], " ")
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare([]byte(strings.TrimSpace(got)), []byte(token)) == 1
}
