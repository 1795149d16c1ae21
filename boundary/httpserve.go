package boundary

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/wire"
)

// Handler puts a boundary around a server and serves it over HTTP, in both eras of the protocol at one address: requests that
// speak of version 2026-07-28 or later are answered without a session, all others have one, so that the server can ask its
// client. A handler ends when its 2026-07-28 caller hangs up.
func Handler(server *mcp.Server, o Options) http.Handler {
	b := Install(server, o)
	return b.HTTP(b.eras(server))
}

// ListenAndServe serves a server over HTTP until ctx ends. Then it gives open calls a few seconds to finish, calls off those that
// have not, which are answered as CANCELLED, and returns nil, or an error if some handlers had not returned even then: their calls are
// answered as UNAVAILABLE. An empty address
// is 127.0.0.1:8080. It answers on every path; see [Handler], and [Options.Hosts] and [Options.Token] before serving any but this machine.
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
	headerPatience = 10 * time.Second
	bodyPatience   = 30 * time.Second
	idlePatience   = 2 * time.Minute
	drainPatience  = 5 * time.Second
	maxHeaderBytes = 64 << 10
	sessionRest    = 24 * time.Hour // after which a session that nobody uses is closed
)

// ServeListener is [ListenAndServe] on a listener that is open already. It closes it.
func ServeListener(ctx context.Context, listener net.Listener, server *mcp.Server, o Options) error {
	b := Install(server, o) // or the one it has
	stopping, callOff := context.WithCancel(context.WithoutCancel(ctx))
	defer callOff()
	b.running.stopping = stopping
	layer := b.layer(b.eras(server))
	layer.open = &openAnswers{}
	layer.patience = bodyPatience
	srv := &http.Server{
		Handler:           untilDone(ctx, layer),
		ReadHeaderTimeout: headerPatience,
		IdleTimeout:       idlePatience,
		MaxHeaderBytes:    maxHeaderBytes,
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	if drain(ctx, srv, drainPatience) == nil {
		return nil
	}
	callOff()
	err := drain(ctx, srv, leaveTime)
	if err != nil {
		layer.open.abandon()
		err = errors.Join(fmt.Errorf("waiting for open calls: %w", err), srv.Close())
	}
	if !b.running.awaitRest(leaveTime) {
		err = errors.Join(err, errLeftBehind)
	}
	return err
}

// drain lets the open requests of a server end. It takes no new ones.
func drain(ctx context.Context, srv *http.Server, limit time.Duration) error {
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	return srv.Shutdown(within)
}

// untilDone ends the streams that only wait for news, so that a server can stop.
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

// eras serves both eras of the protocol. The SDK serves each with a handler of its own, and tells a client of the other that
// its version is not supported.
func (b *Boundary) eras(server *mcp.Server) http.Handler {
	get := func(*http.Request) *mcp.Server { return server }
	o := mcp.StreamableHTTPOptions{
		DisableLocalhostProtection:   true, // the boundary has checked
		MaxRequestBodyBytes:          -1,   // likewise
		PropagateRequestCancellation: true,
		SessionTimeout:               sessionRest,
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

// speaksNewEra reports a request of version 2026-07-28 or later. Its header must say so; one that says it only in the body is
// told by the stateless handler what is missing.
func speaksNewEra(r *http.Request) bool {
	if version := r.Header.Get("Mcp-Protocol-Version"); version != "" {
		return version >= "2026-07-28"
	}
	body, ok := r.Body.(*messageBody)
	if !ok || !bytes.Contains(body.message, []byte(`"`+mcp.MetaKeyProtocolVersion+`"`)) {
		return false
	}
	m := wire.Parse(body.message, wire.Limits{})
	version, _ := m.Params().Path("_meta", mcp.MetaKeyProtocolVersion).Str()
	return version >= "2026-07-28"
}

// openAnswers are the requests of an HTTP server that its handler has not answered yet. A nil *openAnswers is empty and stays so.
type openAnswers struct {
	mu  sync.Mutex
	all map[*answer]struct{}
}

func (s *openAnswers) add(a *answer) {
	if s == nil || a.asked == nil || a.asked.Shape() != wire.KindRequest {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[*answer]struct{}{}
	}
	s.all[a] = struct{}{}
}

// remove reports whether the call was answered by another than its handler.
func (s *openAnswers) remove(a *answer) bool {
	httpCalls.remove(a)
	if s != nil {
		s.mu.Lock()
		delete(s.all, a)
		s.mu.Unlock()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.leaveRecorded()
	return a.mode == answerGiven
}

// abandon answers the calls whose handlers have not returned. Their connections are closed by the caller.
func (s *openAnswers) abandon() {
	s.mu.Lock()
	open := slices.Collect(maps.Keys(s.all))
	s.mu.Unlock()
	var wg sync.WaitGroup
	for _, a := range open {
		wg.Go(a.abandon)
	}
	wg.Wait()
}

// abandon answers a call whose handler has not returned when the server stopped.
func (a *answer) abandon() {
	a.give(func() []byte { return a.l.b.abandon(context.WithoutCancel(a.r.Context()), a.exchange(), a.id()) })
}

// give answers a call in place of its handler, unless that has answered, and ends the connection. It takes no longer than leaveTime to
// write.
func (a *answer) give(message func() []byte) {
	rc := http.NewResponseController(a.ResponseWriter)
	_ = rc.SetWriteDeadline(time.Now().Add(leaveTime)) // ends a write that holds the lock, too
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

// endTicket gives the place of the call back to the gate.
func (a *answer) endTicket() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ticket.end()
}
