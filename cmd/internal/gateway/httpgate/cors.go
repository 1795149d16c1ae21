package httpgate

import (
	"net/http"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/internal/httpguard"
)

// Browsers send a preflight request before a page may send a call (the CORS protocol of the Fetch standard). Only
// pages on the configured origins are allowed. CORS headers of the upstream are replaced, because its origins are not
// those of this gateway. Credentials that a browser adds automatically, such as cookies, are never allowed; a page
// sends its token in a header.

const (
	corsMethods = httpguard.AllowedMethods
	corsHeaders = "Accept, Authorization, Content-Type, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id"
	corsExposed = "Mcp-Protocol-Version, Mcp-Session-Id, Retry-After, WWW-Authenticate"
	corsMaxAge  = "600" // seconds
	corsLongest = 2048  // longest list of requested headers that is accepted
)

// preflight answers a CORS preflight request from a page on a configured origin. It reports whether it did.
func (x *Exchange) preflight() bool {
	if x.Request.Method != http.MethodOptions || x.Request.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	if !x.Handler.guard.KnowsHost(x.Request.Host) || x.Handler.guard.AllowedOrigin(x.Request) == "" {
		return false
	}
	h := x.Writer.Header()
	x.allowOrigin(h)
	h.Add("Vary", "Access-Control-Request-Method, Access-Control-Request-Headers")
	h.Set("Access-Control-Allow-Methods", corsMethods)
	h.Set("Access-Control-Allow-Headers", allowedHeaders(x.Request.Header["Access-Control-Request-Headers"]))
	h.Set("Access-Control-Max-Age", corsMaxAge)
	x.Begun = true
	x.Writer.WriteHeader(http.StatusNoContent)
	return true
}

// allowedHeaders returns all headers that a page requests, because since version 2026-07-28 tools define header names.
func allowedHeaders(asked []string) string {
	list := strings.Join(asked, ",")
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_, "
	if strings.TrimSpace(list) == "" || len(list) > corsLongest || strings.Trim(list, allowed) != "" {
		return corsHeaders
	}
	return list
}

// allowOrigin sets the headers that let a page on a configured origin read the response.
func (x *Exchange) allowOrigin(h http.Header) {
	if len(x.Handler.guard.Origins) == 0 {
		return
	}
	for name := range h {
		if strings.HasPrefix(name, "Access-Control-") {
			delete(h, name)
		}
	}
	if !slices.Contains(h["Vary"], "Origin") {
		h["Vary"] = append(slices.Clip(h["Vary"]), "Origin")
	}
	if origin := x.Handler.guard.AllowedOrigin(x.Request); origin != "" {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", corsExposed)
	}
}
