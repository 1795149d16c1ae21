package boundary

import (
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/candor-mcp/candor"
)

// refusal is a request that is turned away before anybody reads it.
type refusal struct {
	status int
	err    *candor.Error
}

const allowedMethods = "GET, POST, DELETE"

// admit looks at what a browser cannot forge, then at the form of the request. It returns nil if the request may be read.
func (b *Boundary) admit(r *http.Request) *refusal {
	server := candor.WithOrigin(candor.PartyServer, false)
	switch {
	case !b.knowsHost(r.Host):
		return &refusal{http.StatusForbidden, candor.New(candor.CodeHostRefused, "", server)}
	case !b.knowsOrigin(r):
		return &refusal{http.StatusForbidden, candor.New(candor.CodeOriginRefused, "", server)}
	}
	switch r.Method {
	case http.MethodGet, http.MethodDelete:
		return nil
	case http.MethodPost:
		return readable(r.Header)
	}
	return &refusal{http.StatusMethodNotAllowed, candor.New(candor.CodeMethodNotAllowed, "", server,
		candor.WithDetails(map[string]any{"allowed": strings.Split(allowedMethods, ", ")}))}
}

// readable refuses a body that is not JSON as it is.
func readable(h http.Header) *refusal {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	coding := h.Get("Content-Encoding")
	if err == nil && kind == "application/json" && (coding == "" || strings.EqualFold(coding, "identity")) {
		return nil
	}
	return &refusal{http.StatusUnsupportedMediaType, candor.New(candor.CodeMediaTypeUnsupported, "",
		candor.WithOrigin(candor.PartyServer, false))}
}

// knowsHost is the guard against DNS rebinding: a page of evil.example that has its name resolve to this machine sends that
// name.
func (b *Boundary) knowsHost(host string) bool {
	name := hostName(host)
	if isLoopback(name) {
		return true
	}
	for _, known := range b.o.Hosts {
		if known == "*" || name != "" && (strings.EqualFold(known, host) || strings.EqualFold(known, name)) {
			return true
		}
	}
	return false
}

// knowsOrigin is the guard against other pages of the same browser. Programs send no Origin.
func (b *Boundary) knowsOrigin(r *http.Request) bool {
	said := r.Header["Origin"]
	if len(said) == 0 {
		return true
	}
	if len(said) > 1 {
		return false
	}
	for _, known := range b.o.Origins {
		if known == "*" || strings.EqualFold(strings.TrimSuffix(known, "/"), said[0]) {
			return true
		}
	}
	origin, err := url.Parse(said[0])
	if err != nil || origin.Scheme != "http" && origin.Scheme != "https" || origin.Host == "" {
		return false
	}
	return isLoopback(origin.Hostname()) || strings.EqualFold(origin.Host, r.Host)
}

// hostName is a Host header without its port and brackets.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

func isLoopback(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsLoopback()
}
