package boundary

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/wire"
)

// Handler adds a boundary to a server and serves it over HTTP. It serves both eras of the protocol at one address:
// requests of version 2026-07-28 or later are answered without a session, and all others have a session, so that the
// server can send requests to its client. The context of a handler ends when its 2026-07-28 client disconnects.
func Handler(server *mcp.Server, o Options) http.Handler {
	b := Install(server, o)
	return b.HTTP(b.eras(server))
}

const (
	headerTimeout  = 10 * time.Second
	idleTimeout    = 2 * time.Minute
	drainTimeout   = 5 * time.Second
	maxHeaderBytes = 64 << 10
	sessionTimeout = 24 * time.Hour // an unused session is closed after this time
)

// serveListener implements serve.Listen. When ctx is done, it gives open calls a few seconds to finish, cancels those
// that have not, which are answered with CANCELLED, and returns nil. If some handlers still do not return, their calls
// are answered with UNAVAILABLE, and it returns an error.
func (b *Boundary) serveListener(ctx context.Context, listener net.Listener, server *mcp.Server) error {
	b = b.install(server)
	defer b.serving(ctx)()
	srv := &http.Server{
		Handler:           untilDone(ctx, b.HTTP(b.eras(server))),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	if drain(ctx, srv, drainTimeout) == nil {
		return nil
	}
	b.stop()
	err := drain(ctx, srv, stopGrace+writeGrace)
	if err != nil {
		err = errors.Join(fmt.Errorf("waiting for open calls: %w", err), srv.Close())
	}
	return errors.Join(err, b.stillRunning())
}

// drain waits until the open requests of a server have finished. It accepts no new ones.
func drain(ctx context.Context, srv *http.Server, limit time.Duration) error {
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	return srv.Shutdown(within)
}

// untilDone ends the streams opened by GET when ctx is done, so that the server can stop.
func untilDone(ctx context.Context, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			within, cancel := context.WithCancel(r.Context())
			defer cancel()
			defer context.AfterFunc(ctx, cancel)()
			r = r.WithContext(within)
		}
		next.ServeHTTP(w, r)
	})
}

// eras serves both eras of the protocol. The SDK has a separate handler for each, which rejects the versions of the other era.
func (b *Boundary) eras(server *mcp.Server) http.Handler {
	get := func(*http.Request) *mcp.Server { return server }
	o := mcp.StreamableHTTPOptions{
		DisableLocalhostProtection:   true, // checked by the boundary
		MaxRequestBodyBytes:          -1,   // limited by the boundary
		PropagateRequestCancellation: true,
		SessionTimeout:               sessionTimeout,
	}
	sessions := mcp.NewStreamableHTTPHandler(get, &o)
	o.Stateless = true
	stateless := mcp.NewStreamableHTTPHandler(get, &o)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if speaksNewEra(r) {
			stateless.ServeHTTP(w, r)
		} else {
			sessions.ServeHTTP(w, r)
		}
	})
}

// speaksNewEra reports whether a request has version 2026-07-28 or later. The header must contain the version; if only
// the body does, the stateless handler rejects the request.
func speaksNewEra(r *http.Request) bool {
	if version := r.Header.Get("Mcp-Protocol-Version"); version != "" {
		return version >= "2026-07-28"
	}
	body, ok := r.Body.(*messageBody)
	if !ok || !bytes.Contains(body.message, []byte(`"`+mcp.MetaKeyProtocolVersion+`"`)) {
		return false
	}
	m := wire.Parse(body.message, wire.Limits{})
	return paramsNewEra(m.Params().Raw())
}
