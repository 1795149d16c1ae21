package boundary

import (
	"mime"
	"net/http"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/hostguard"
)

// refusal is a request that is turned away before anybody reads it.
type refusal struct {
	status int
	err    *candor.Error
}

// verdict is what it is counted as: that the server has no room is no fault of the message.
func (no *refusal) verdict() contract.Verdict {
	if no.status == http.StatusServiceUnavailable {
		return contract.VerdictProtocol
	}
	return contract.VerdictMalformed
}

const allowedMethods = "GET, POST, DELETE"

// admit looks at what a browser cannot forge, then at the token, then at the form of the request. It returns nil if the request may be read.
func (b *Boundary) admit(r *http.Request) *refusal {
	server := candor.WithOrigin(candor.PartyServer, false)
	guard := hostguard.Guard{Hosts: b.o.Hosts, Origins: b.o.Origins}
	switch {
	case !guard.KnowsHost(r.Host):
		return &refusal{http.StatusForbidden, candor.New(candor.CodeHostRefused, "", server)}
	case !guard.KnowsOrigin(r):
		return &refusal{http.StatusForbidden, candor.New(candor.CodeOriginRefused, "", server)}
	case b.o.Token != "" && !hostguard.Bears(r.Header, b.o.Token):
		return &refusal{http.StatusUnauthorized, candor.New(candor.CodeTokenRequired, "", server)}
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
