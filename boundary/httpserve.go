package boundary

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/wire"
)

// Handler adds a boundary to a server and serves it over HTTP. It serves both eras of the protocol at one address: requests of
// version 2026-07-28 or later are answered without a session, and all others have a session, so that the server can send requests to
// its client. The context of a handler ends when its 2026-07-28 client disconnects.
func Handler(server *mcp.Server, o Options) http.Handler {
	b := Install(server, o)
	return b.HTTP(b.eras(server))
}

// ListenAndServe serves a server over HTTP until ctx is done. Then it gives open calls a few seconds to finish, cancels those that
// have not, which are answered with CANCELLED, and returns nil. If some handlers still do not return, their calls are answered with
// UNAVAILABLE, and ListenAndServe returns an error. An empty address means 127.0.0.1:8080. It answers on every path; see [Handler].
// Set [Options.Hosts] and [Options.Token] before serving other machines.
func ListenAndServe(ctx context.Context, addr string, server *mcp.Server, o Options) error {
	if addr == "" {
		addr = "127.0.0.1:8080"
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	return ServeListener(ctx, listener, server, o)
}

const (
	headerTimeout      = 10 * time.Second
	defaultBodyTimeout = 30 * time.Second
	idleTimeout        = 2 * time.Minute
	drainTimeout       = 5 * time.Second
	maxHeaderBytes     = 64 << 10
	sessionTimeout     = 24 * time.Hour // an unused session is closed after this time
)

// ServeListener is [ListenAndServe] on an open listener, which it closes.
func ServeListener(ctx context.Context, listener net.Listener, server *mcp.Server, o Options) error {
	b := Install(server, o) // or the existing boundary
	stopping, callOff := context.WithCancel(context.WithoutCancel(ctx))
	defer callOff()
	b.running.stopping = stopping
	layer := b.layer(b.eras(server))
	layer.bodyTimeout = defaultBodyTimeout
	srv := &http.Server{
		Handler:           untilDone(ctx, layer),
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
	callOff()
	err := drain(ctx, srv, abandonTimeout)
	if err != nil {
		layer.abandon()
		err = errors.Join(fmt.Errorf("waiting for open calls: %w", err), srv.Close())
	}
	if !b.running.awaitHandlers(abandonTimeout) {
		err = errors.Join(err, errHandlerRunning)
	}
	return err
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

// speaksNewEra reports whether a request has version 2026-07-28 or later. The header must contain the version; if only the body does,
// the stateless handler rejects the request.
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

// done notes that the handler of a request has returned. It reports whether the boundary has answered the request instead.
func (a *answer) done() bool {
	httpCalls.remove(&a.mark[0])
	a.mu.Lock()
	defer a.mu.Unlock()
	a.keepRecorded()
	return a.mode == answerGiven
}

// abandon answers the calls whose handlers have not returned. The caller closes their connections.
func (l *httpLayer) abandon() {
	var wg sync.WaitGroup
	for _, a := range httpCalls.values() {
		if a.l == l {
			wg.Go(a.abandon)
		}
	}
	wg.Wait()
}

// abandon answers a call whose handler has not returned when the server stops.
func (a *answer) abandon() {
	a.give(func() []byte { return a.l.b.abandon(context.WithoutCancel(a.r.Context()), a.exchange(), a.id()) })
}

// give answers a call instead of its handler, unless the handler has answered, and closes the connection. Writing takes at most
// abandonTimeout.
func (a *answer) give(message func() []byte) {
	rc := http.NewResponseController(a.ResponseWriter)
	_ = rc.SetWriteDeadline(time.Now().Add(abandonTimeout)) // also ends a write that holds the lock
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.mode != answerOpen && a.mode != answerEvents || a.answered {
		return
	}
	body := message()
	if a.mode == answerEvents {
		body = append(append([]byte("event: message\ndata: "), body...), "\n\n"...)
	} else {
		a.Header().Set("Content-Type", "application/json")
		a.Header().Set("Content-Length", strconv.Itoa(len(body)))
		a.Header().Set("Connection", "close")
		a.ResponseWriter.WriteHeader(http.StatusOK)
	}
	a.mode = answerGiven
	if _, err := a.ResponseWriter.Write(body); err == nil {
		_ = rc.Flush()
	}
	a.ticket.end()
}

// endTicket notes at the gate that the call has finished.
func (a *answer) endTicket() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ticket.end()
}
