package doctor

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/clientconfig"
	"github.com/candor-mcp/candor/internal/mcpclient"
	"github.com/candor-mcp/candor/wire"
)

// loginWait bounds the questions to a server.
const loginWait = 3 * time.Second

// Logins returns the addresses, as text, of those servers that ask for a log-in.
func Logins(ctx context.Context, addresses []*url.URL) map[string]bool {
	asks := make([]bool, len(addresses))
	var all sync.WaitGroup
	for i, at := range addresses {
		all.Go(func() { asks[i] = asksForLogin(ctx, at) })
	}
	all.Wait()
	found := map[string]bool{}
	for i, at := range addresses {
		found[at.String()] = found[at.String()] || asks[i]
	}
	return found
}

// asksForLogin reports whether a server asks its clients to log in with OAuth: it refuses a message without credentials, and its
// challenge is one for a bearer token, or it has metadata of a protected resource (RFC 9728).
func asksForLogin(ctx context.Context, address *url.URL) bool {
	ctx, cancel := context.WithTimeout(ctx, loginWait)
	defer cancel()
	conn := mcpclient.OpenHTTP(address.String(), mcpclient.HTTPOptions{})
	defer conn.Close(false)
	r, err := conn.Do(ctx, http.MethodPost, []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`), nil) // opens no session
	if err != nil {
		return false
	}
	_ = r.Body.Close()
	if r.StatusCode != http.StatusUnauthorized {
		return false
	}
	for _, challenge := range r.Header.Values("WWW-Authenticate") {
		if scheme, _, _ := strings.Cut(challenge, " "); strings.EqualFold(scheme, "Bearer") || strings.Contains(challenge, "resource_metadata=") {
			return true
		}
	}
	about := *address
	about.Path, about.RawPath, about.RawQuery = "/.well-known/oauth-protected-resource"+strings.TrimSuffix(address.Path, "/"), "", ""
	known := mcpclient.OpenHTTP(about.String(), mcpclient.HTTPOptions{})
	defer known.Close(false)
	if r, err = known.Do(ctx, http.MethodGet, nil, nil); err != nil {
		return false
	}
	defer r.Body.Close() //nolint:errcheck // it was only read
	data, _ := io.ReadAll(io.LimitReader(r.Body, 64<<10))
	v, err := wire.ParseValue(data, wire.Limits{})
	return err == nil && r.StatusCode == http.StatusOK && v.Path("authorization_servers").Present()
}

// AroundLogin is what to do about a server that asks for a log-in. The gateway cannot pass it on: the client would log in to the
// gateway's address, which is not the one that the server names.
func AroundLogin(address string) string {
	return "in the client use " + clientconfig.BridgeCommand(address) + ", as candor install --remote writes it"
}
