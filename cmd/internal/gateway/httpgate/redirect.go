package httpgate

import (
	"log/slog"
	"net/http"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
)

func isRedirect(status int) bool {
	return status >= 300 && status < 400 && status != http.StatusNotModified
}

// errRedirect returns the error for a redirect, which the gateway never follows. Only the operator can correct it, by changing
// the URL. In strict mode the address, which the server chose, is logged and not shown.
func (x *Exchange) errRedirect(res *http.Response) *candor.Error {
	details := map[string]any{"redirect": res.StatusCode}
	message, next := "The server redirects to another address.", "Ask the operator to change the URL that is configured for this server."
	where := x.location(res.Header.Get("Location"))
	switch {
	case where == "":
	case x.Handler.up.Options.Mode == gateway.ModeStrict:
		x.Handler.up.Options.Logger.WarnContext(x.Context, "redirect refused", slog.String("location", where))
	default:
		details["location"] = where
		message = "The server redirects to " + where + "."
		next = "Ask the operator to change the URL that is configured for this server, to " + where + " if that is the right one."
	}
	if res.StatusCode == http.StatusSeeOther { // the usual response to a POST that was processed
		next = "Check whether the call took effect. " + next
	}
	return candor.New(candor.CodeUpstreamBadResponse, message, candor.WithOrigin(candor.PartyGateway, false),
		candor.WithRetry(candor.Retry{}), candor.WithSuggestion(next), candor.WithDetails(details))
}

// maxLocation bounds the address of a redirect that is shown.
const maxLocation = 200

// location returns the target of a redirect without user, query and fragment, which may hold secrets. It returns "" if the target
// is not an address that could be configured.
func (x *Exchange) location(said string) string {
	if said == "" || len(said) > maxEndpoint || x.target == nil {
		return ""
	}
	to, err := x.target.Parse(said)
	if err != nil || to.Scheme != "http" && to.Scheme != "https" || to.Host == "" || len(to.Host) > maxLocation/2 || !isPlainHost(to.Host) {
		return ""
	}
	to.User, to.RawQuery, to.ForceQuery, to.Fragment, to.RawFragment = nil, "", false, "", ""
	where := gateway.TextPolicy.Text(string(x.Handler.up.Secrets.Load().Redact([]byte(to.String()))))
	if len(where) > maxLocation {
		return to.Scheme + "://" + to.Host + "/…"
	}
	return where
}

func isPlainHost(host string) bool {
	return !strings.ContainsFunc(host, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(".-_:[]", r))
	})
}
