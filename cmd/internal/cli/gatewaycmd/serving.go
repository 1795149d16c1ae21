package gatewaycmd

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/internal/hostguard"
	"github.com/candor-mcp/candor/internal/redact"
)

// serving is a gateway that runs.
type serving struct {
	p     *service.Sinks
	front atomic.Pointer[front]

	clients, admin net.Listener // admin is nil if nobody wants it

	draining atomic.Bool
	asking   atomic.Int64 // requests that are no streams

	// patience is the time of every request: streams end by nothing else, calls when the end cannot wait any longer.
	patience context.Context //nolint:containedctx // the base of all requests, as net/http wants it
	end      context.CancelCauseFunc
}

// newServing opens the doors and listens, but serves nobody yet.
func newServing(p *service.Sinks, file *config.File) (*serving, error) {
	s := &serving{p: p}
	s.patience, s.end = context.WithCancelCause(context.Background())
	s.front.Store(newFront(p, file, nil))
	var err error
	if s.clients, err = listen("--listen", file.Listen); err != nil {
		return nil, err
	}
	if file.Admin == "" {
		return s, nil
	}
	if s.admin, err = listen("--admin", file.Admin); err != nil {
		_ = s.clients.Close() // nobody has connected
		return nil, err
	}
	return s, nil
}

func listen(flag, address string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, term.BadInput("end whoever listens there, or choose another address with "+flag, "%s", err)
	}
	return l, nil
}

// announce says where it listens and what it fronts.
func (s *serving) announce() {
	f := s.front.Load()
	s.p.Notice("listening on http://%s", s.clients.Addr())
	for _, u := range f.file.Upstreams {
		s.p.Notice("/%s/ is %s (%s)", u.Name, term.Printable(targetWords(u)), orDefault(string(u.Options.Mode), "annotate"))
	}
	if len(f.file.Upstreams) == 1 {
		s.p.Notice("/mcp is /%s/", f.file.Upstreams[0].Name)
	}
	if s.admin != nil {
		s.p.Notice("health and metrics on http://%s/healthz, /metrics and /status", s.admin.Addr())
	}
	if f.file.NoToken && !config.IsLocal(f.file.Listen) {
		s.p.Log.Warn("other machines can connect, and no token is wanted")
	}
}

// targetWords is the address of an upstream, or the command that it is.
func targetWords(u config.Upstream) string {
	if u.URL != nil {
		return config.ShowURL(u.URL)
	}
	return strings.Join(shownCommand(u.Command), " ")
}

// shownCommand is a command without the secrets among its words.
func shownCommand(words []string) []string {
	if len(words) == 0 {
		return nil
	}
	shown := slices.Clone(words)
	line := redact.Policy{KeepPaths: true}.Text(strings.Join(words, "\n"))
	if cut := strings.Split(line, "\n"); len(cut) == len(shown) {
		return cut
	}
	for i, word := range shown {
		shown[i] = redact.Policy{KeepPaths: true}.Text(word)
	}
	return shown
}

func orDefault(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// replace puts another file in force for the calls to come.
func (s *serving) replace(file *config.File) {
	before := s.front.Load()
	if file.Listen != before.file.Listen || file.Admin != before.file.Admin || file.Ledger != before.file.Ledger {
		s.p.Log.Warn("listening addresses and the ledger change only with a new start")
		file.Listen, file.Admin, file.Ledger = before.file.Listen, before.file.Admin, before.file.Ledger
	}
	s.front.Store(newFront(s.p, file, before))
}

// calls returns how many calls were made, by all doors there were.
func (s *serving) calls() uint64 {
	f := s.front.Load()
	n := uint64(0)
	for _, had := range f.gone {
		n += had.calls
	}
	for _, d := range f.all() {
		n += d.up.Calls()
	}
	return n
}

// ServeHTTP lets a request in by its door.
func (s *serving) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d := s.front.Load().find(r)
	if d == nil {
		noDoor(w, s.p.Log)
		return
	}
	if r.Method != http.MethodGet {
		s.asking.Add(1)
		defer s.asking.Add(-1)
	}
	d.Handler.ServeHTTP(w, r)
}

// Run serves until ctx is done, then lets open calls finish. A second signal, which stop has left to the system, ends it at once.
// Reloads is closed when nobody reads the file any more.
func (s *serving) run(ctx context.Context, stop func(), reloads <-chan struct{}) error {
	doors, admin := s.server(s), s.server(s.adminPages())
	ended := make(chan error, 2)
	go func() { ended <- doors.Serve(s.clients) }()
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
	s.closeDoors()
	s.end(gateway.ErrDraining)
	last, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	err := errors.Join(doors.Shutdown(last), admin.Shutdown(last))
	if errors.Is(err, context.DeadlineExceeded) {
		s.p.Log.Warn("some connections did not end and were cut")
		err = errors.Join(doors.Close(), admin.Close())
	}
	if failed != nil && !errors.Is(failed, http.ErrServerClosed) {
		return term.BadInput("start it again", "serving: %s", failed)
	}
	return err
}

// closeDoors ends the servers that were started, all at once. Calls that are still open there are answered.
func (s *serving) closeDoors() {
	ctx, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	var all sync.WaitGroup
	for _, d := range s.front.Load().all() {
		all.Go(func() {
			if err := d.Close(ctx); err != nil {
				s.p.Log.Warn("a server did not end in order", slog.String("upstream", d.settings.Name), slog.Any("error", err))
			}
		})
	}
	all.Wait()
}

// lastWords is how long answers may take to be written once every call has one.
const lastWords = 2 * time.Second

func (s *serving) server(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog:    slog.NewLogLogger(s.p.Log.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return s.patience },
	}
}

// drain refuses new calls and waits for the open ones, as long as the file allows.
func (s *serving) drain() {
	s.draining.Store(true)
	f := s.front.Load()
	for _, d := range f.all() {
		d.up.Drain()
	}
	if n := s.open(); n > 0 {
		s.p.Log.Info("waiting for open calls", slog.Int("calls", n), slog.Duration("atMost", f.file.Drain))
	}
	bound := time.After(f.file.Drain)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for s.open() > 0 || s.asking.Load() > 0 {
		select {
		case <-bound:
			s.p.Log.Warn("open calls were cut off", slog.Int("calls", s.open()))
			return
		case <-tick.C:
		}
	}
}

func (s *serving) open() int {
	n := 0
	for _, d := range s.front.Load().all() {
		n += d.up.Open()
	}
	return n
}

// adminPages are for the operator of this machine: no page of a browser elsewhere can read them.
func (s *serving) adminPages() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if s.draining.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte("draining\n")) // a check that has gone is not told
			return
		}
		_, _ = w.Write([]byte("ok\n")) // as above
	})
	mux.HandleFunc("GET /metrics", s.metricsPage)
	mux.HandleFunc("GET /status", s.statusPage)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if guard := (hostguard.Guard{}); !guard.KnowsHost(r.Host) || !guard.KnowsOrigin(r) {
			http.Error(w, "this page is for this machine", http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	})
}
