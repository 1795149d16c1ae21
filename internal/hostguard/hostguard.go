// Package hostguard keeps web pages away from a server that listens on somebody's machine: it looks at the two headers that a
// browser sets and a page cannot forge.
package hostguard

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Guard says who may ask. The zero value lets in this machine alone.
type Guard struct {
	Hosts   []string // names, with or without port, that the server is known by; "*" is any. This machine's own always are.
	Origins []string // pages that may ask; "*" is any. Pages of this machine and of the server itself always may.
}

// KnowsHost is the guard against DNS rebinding: a page of evil.example that has its name resolve to this machine sends that
// name.
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

// KnowsOrigin is the guard against other pages of the same browser. Programs send no Origin.
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

// AllowedOrigin returns the value of Access-Control-Allow-Origin for a request of a page on one of the Origins: that origin, or "*" if
// only "*" covers it. For every other request it is empty, also for pages of this machine, which [Guard.KnowsOrigin] lets in.
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

// hostName is a Host header without its port and brackets.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

// IsLoopback reports whether a name or address is that of this machine.
func IsLoopback(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsLoopback()
}

// Bears reports that a request has the token. It compares in constant time, so that nobody can find a token letter by letter.
func Bears(h http.Header, token string) bool {
	said := h["Authorization"]
	if len(said) != 1 {
		return false
	}
	scheme, got, _ := strings.Cut(said[0], " ")
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare([]byte(strings.TrimSpace(got)), []byte(token)) == 1
}
