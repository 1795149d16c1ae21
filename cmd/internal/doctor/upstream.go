package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/internal/mcpclient"
)

// connect talks to a server that runs. A redirect is not followed, so that headers with credentials go only to the configured host.
func connect(ctx context.Context, t target) (answers, *Finding) {
	conn := mcpclient.OpenHTTP(t.url.String(), mcpclient.HTTPOptions{Header: t.header})
	client := mcpclient.NewClient(conn, clientName, nil)
	defer client.Close(true)
	found, _, err := handshake(ctx, client)
	if err == nil {
		return found, nil
	}
	status, _ := errors.AsType[statusError](err)
	if conn.Session() == "" && status >= 400 && status < 500 && isLegacy(ctx, conn) {
		return answers{legacy: true}, nil
	}
	if status == http.StatusUnauthorized && len(t.header) == 0 && asksForLogin(ctx, t.url) {
		f := warning("upstream-login", config.ShowURL(t.url)+" asks for a log-in with OAuth, which a client can do, and candor gateway cannot",
			"nothing, if a client connects to it; otherwise "+AroundLogin(config.ShowURL(t.url)))
		return answers{}, &f
	}
	f := connectFault(ctx, config.ShowURL(t.url), status, err)
	return answers{}, &f
}

// connectFault explains why the conversation with a server at an address failed.
func connectFault(ctx context.Context, address string, status statusError, err error) Finding {
	f, isFault := errors.AsType[fault](err)
	switch {
	case isFault:
		return f.Finding
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return failed("upstream-refused", fmt.Sprintf("%s refuses the request: %s", address, status), "set headers: with the credentials of the server, from an environment variable")
	case status >= 400:
		return failed("upstream-status", fmt.Sprintf("%s answers with %s", address, status), "check the path of the address; many servers use /mcp")
	case status != 0:
		return failed("upstream-status", fmt.Sprintf("%s answers with a redirect: %s", address, status), "write the address to which it redirects")
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return failed("upstream-silent", address+" did not answer in time", "check the server, or allow more time with --timeout")
	}
	return failed("upstream-unreachable", fmt.Sprintf("%s cannot be reached: %s", address, transportCause(err)), "start the server, or correct the address")
}

// transportCause returns the reason of an error of [http.Client], which begins with the whole URL.
func transportCause(err error) string {
	if address, ok := errors.AsType[*url.Error](err); ok {
		return shown(listenCause(address.Err))
	}
	return shown(err.Error())
}

// isLegacy reports whether the server offers the older SSE transport, which begins with a GET.
func isLegacy(ctx context.Context, conn *mcpclient.HTTP) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	m, err := conn.Ask(ctx, http.MethodGet, nil, nil)
	return err == nil && m.Status == http.StatusOK && m.Type == "text/event-stream"
}
