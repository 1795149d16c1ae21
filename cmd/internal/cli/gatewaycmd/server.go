package gatewaycmd

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/doctor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/cmd/internal/telemetry"
	"github.com/candor-mcp/candor/internal/httpguard"
)

// server is a running gateway.
type server struct {
	p       *service.Sinks
	routes  atomic.Pointer[routes]
	metrics *prometheus.Registry

	started time.Time
	config  atomic.Pointer[configStatus]

	clients, admin net.Listener // admin may be nil

	draining atomic.Bool
	requests atomic.Int64 // in progress, without streams

	// base is the parent context of all requests. cancel ends streams, and calls that are open when the drain time is over.
	base   context.Context //nolint:containedctx // for http.Server.BaseContext
	cancel context.CancelCauseFunc
}

// newServer opens the endpoints and listens. It does not serve yet.
func newServer(p *service.Sinks, file *config.File) (*server, error) {
	s := &server{p: p, started: time.Now()}
	s.config.Store(&configStatus{Loaded: s.started.UTC()})
	s.base, s.cancel = context.WithCancelCause(context.Background())
	p.Calls = telemetry.NewCalls()
	s.routes.Store(newRoutes(p, file, nil))
	var err error
	if s.metrics, err = newRegistry(p, s); err != nil {
		return nil, err
	}
	if s.clients, err = listen("--listen", file.Listen); err != nil {
		return nil, err
	}
	if file.Admin == "" {
		return s, nil
	}
	if s.admin, err = listen("--admin", file.Admin); err != nil {
		_ = s.clients.Close() // no client is connected
		return nil, err
	}
	return s, nil
}

func listen(flag, address string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, term.BadInput("stop the process that uses this port, or choose another address with "+flag, "%s", err)
	}
	return l, nil
}

// announce prints the addresses and the upstreams.
func (s *server) announce() {
	f := s.routes.Load()
	s.p.Notice("listening on http://%s", s.clients.Addr())
	for _, u := range f.file.Upstreams {
		s.p.Notice("%s", describeUpstream(u))
	}
	if len(f.file.Upstreams) == 1 {
		s.p.Notice("/mcp is /%s/", f.file.Upstreams[0].Name)
	}
	if s.admin != nil {
		s.p.Notice("health and metrics on http://%s/healthz, /metrics and /status", s.admin.Addr())
	}
	if f.file.NoToken && !config.IsLocal(f.file.Listen) {
		s.p.Log.Warn("other machines can connect, and no token is required")
	}
}

// checkLogins warns about servers whose clients would have to log in: the gateway cannot pass that on. It does not wait for their
// answers; the caller calls wait at the end.
func (s *server) checkLogins(ctx context.Context) (wait func()) {
	ctx, cancel := context.WithCancel(ctx)
	upstreams := s.routes.Load().file.Upstreams
	var addresses []*url.URL
	for _, u := range upstreams {
		if u.URL != nil && len(u.HTTP.Header) == 0 {
			addresses = append(addresses, u.URL)
		}
	}
	var checked sync.WaitGroup
	checked.Go(func() {
		asks := doctor.Logins(ctx, addresses)
		for _, u := range upstreams {
			if u.URL != nil && asks[u.URL.String()] && ctx.Err() == nil {
				s.p.Log.Warn("the server asks for a log-in with OAuth, which clients cannot do through the gateway",
					slog.String("upstream", u.Name), slog.String("next", doctor.AroundLogin(config.ShowURL(u.URL))))
			}
		}
	})
	return func() { cancel(); checked.Wait() }
}

// replace makes new calls use another configuration.
func (s *server) replace(file *config.File) {
	before := s.routes.Load()
	if file.Listen != before.file.Listen || file.Admin != before.file.Admin || file.Ledger != before.file.Ledger {
		s.p.Log.Warn("listening addresses and the ledger change only at a restart")
		file.Listen, file.Admin, file.Ledger = before.file.Listen, before.file.Admin, before.file.Ledger
	}
	s.routes.Store(newRoutes(s.p, file, before))
}

// ServeHTTP passes a request to its endpoint.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d := s.routes.Load().find(r)
	if d == nil {
		writeNoUpstream(w, s.p.Log)
		return
	}
	if r.Method != http.MethodGet {
		s.requests.Add(1)
		defer s.requests.Add(-1)
	}
	d.Handler.ServeHTTP(w, r)
}

// run serves until ctx is done, then lets open calls finish. It calls stop first, so that a second signal ends the process at once.
// reloads is closed when no reload is in progress.
func (s *server) run(ctx context.Context, stop func(), reloads <-chan struct{}) error {
	endpoints, admin := s.httpServer(s), s.httpServer(s.adminPages())
	ended := make(chan error, 2)
	go func() { ended <- endpoints.Serve(s.clients) }()
	if s.admin != nil {
		go func() { ended <- admin.Serve(s.admin) }()
	}
	var failed error
	select {
	case <-ctx.Done():
		stop()
		<-reloads
		s.drain()
	case failed = <-ended:
	}
	s.closeEndpoints()
	s.cancel(gateway.ErrDraining)
	last, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	err := errors.Join(endpoints.Shutdown(last), admin.Shutdown(last))
	if errors.Is(err, context.DeadlineExceeded) {
		s.p.Log.Warn("some connections did not end in time and were closed")
		err = errors.Join(endpoints.Close(), admin.Close())
	}
	if failed != nil && !errors.Is(failed, http.ErrServerClosed) {
		return term.BadInput("start the gateway again", "serving: %s", failed)
	}
	return err
}

// closeEndpoints stops all servers at the same time. Calls that are still open get an error response.
func (s *server) closeEndpoints() {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	var all sync.WaitGroup
	for _, d := range s.routes.Load().all() {
		all.Go(func() {
			if err := d.Close(ctx); err != nil {
				s.p.Log.Warn("stopping a server failed", slog.String("upstream", d.settings.Name), slog.Any("error", err))
			}
		})
	}
	all.Wait()
}

// shutdownTimeout bounds the time to write the last responses.
const shutdownTimeout = 2 * time.Second

func (s *server) httpServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog:    slog.NewLogLogger(s.p.Log.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return s.base },
	}
}

// drain refuses new calls and waits for open ones, at most for the drain time of the configuration.
func (s *server) drain() {
	s.draining.Store(true)
	f := s.routes.Load()
	for _, d := range f.all() {
		d.up.Drain()
	}
	if n := f.open(); n > 0 {
		s.p.Log.Info("waiting for open calls", slog.Int("calls", n), slog.Duration("atMost", f.file.Drain))
	}
	bound := time.After(f.file.Drain)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for f.open() > 0 || s.requests.Load() > 0 {
		select {
		case <-bound:
			s.p.Log.Warn("open calls were ended", slog.Int("calls", f.open()))
			return
		case <-tick.C:
		}
	}
}

// adminPages returns the handler for the admin address. It serves only this machine: web pages of other origins cannot read it.
func (s *server) adminPages() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if s.draining.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte("draining\n")) // the client may have disconnected
			return
		}
		_, _ = w.Write([]byte("ok\n")) // as above
	})
	mux.HandleFunc("GET /metrics", s.metricsPage)
	mux.HandleFunc("GET /status", s.statusPage)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if guard := (httpguard.Guard{}); !guard.KnowsHost(r.Host) || !guard.KnowsOrigin(r) {
			http.Error(w, "this page is served only to this machine", http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	})
}
