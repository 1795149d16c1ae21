package consolecmd

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/console"
	"github.com/candor-mcp/candor/cmd/internal/console/failures"
	"github.com/candor-mcp/candor/internal/httpguard"
	"github.com/candor-mcp/candor/internal/plug"
)

// DefaultListen is an address on this machine with a free port.
const DefaultListen = "127.0.0.1:0"

// ErrInUse means that the console cannot listen at its address.
var ErrInUse = errors.New("the address is in use")

// Options configures a console.
type Options struct {
	Dir    string // folder of the ledger
	Listen string
	Token  string
	Hosts  []string
	Verify bool // verify the ledger at the start
	Log    *slog.Logger

	VerifySmall bool // as Verify, if the ledger is small

	Flag, TokenFlag string // names of the flags for errors; "" is --listen and --token-env
	Temporary       bool   // the ledger is removed at the end
	Nodes           bool   // Dir has the ledgers of many nodes, each in a folder with its name

	Servers  console.ServerSource // nil if no server runs here
	Profiles Profiles             // nil offers no rules
	Reports  string               // folder of reports of candor probe; "" is none
}

// Running is a console that serves.
type Running struct {
	handler  *console.Server
	store    *failures.Store
	listener net.Listener
	server   *http.Server
	stop     context.CancelFunc
	jobs     sync.WaitGroup
}

// Start opens the ledger, listens and serves until Close. Nothing is left open after an error.
func Start(ctx context.Context, env *term.Env, o Options) (*Running, error) {
	flag, tokenFlag := cmp.Or(o.Flag, "--listen"), cmp.Or(o.TokenFlag, "--token-env")
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return nil, term.BadInput("such as 127.0.0.1:8767, or "+DefaultListen+" for a free port", "%s %q: not an address", flag, o.Listen)
	}
	local := httpguard.IsLoopback(host)
	if !local && o.Token == "" {
		return nil, term.BadInput("name the variable that holds a token with "+tokenFlag+", or listen on 127.0.0.1",
			"%s %s: other machines can connect, and no token is required", flag, o.Listen)
	}
	store, err := failures.Open(o.Dir, failures.Options{NoCache: o.Temporary, Nodes: o.Nodes})
	if err != nil {
		return nil, term.BadInput("name the folder of the ledger", "%s", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Listen)
	if err != nil {
		store.Close()
		return nil, &term.Error{Code: term.ExitUsage, Text: err.Error(), Hint: "stop the process that uses this port, or choose another address with " + flag, Cause: ErrInUse}
	}
	r := &Running{store: store, listener: listener}
	hosts := o.Hosts
	if !local && len(hosts) == 0 {
		hosts = []string{host}
	}
	pages := console.Options{
		Dir: o.Dir, Failures: store, Token: o.Token, Private: !local, Hosts: hosts, Servers: o.Servers,
		Version: term.ReadBuildInfo().Version, Log: o.Log,
	}
	if !o.Nodes {
		pages.WitnessCopies = plug.WitnessCopies(o.Dir, env.Getenv)
	}
	if o.Profiles != nil {
		pages.Rules = &ruleMaker{dir: o.Dir, profiles: o.Profiles}
	}
	if o.Reports != "" {
		pages.Reports = &reportFolder{dir: o.Reports}
	}
	r.handler = console.New(pages)
	r.server = &http.Server{Handler: r.handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug)}
	r.serve(ctx, o)
	return r, nil
}

// serve starts the goroutines.
func (r *Running) serve(ctx context.Context, o Options) {
	ctx, r.stop = context.WithCancel(context.WithoutCancel(ctx))
	r.jobs.Go(func() {
		if err := r.store.Run(ctx); err != nil && ctx.Err() == nil {
			o.Log.Error("reading the ledger for the console failed", slog.Any("error", err))
		}
	})
	r.jobs.Go(func() {
		if err := r.server.Serve(r.listener); !errors.Is(err, http.ErrServerClosed) {
			o.Log.Error("serving the console failed", slog.Any("error", err))
		}
	})
	if o.Verify {
		r.handler.Verify()
	}
	if o.VerifySmall {
		r.jobs.Go(func() { r.verifySmall(ctx) })
	}
}

// smallLedger is the size of a ledger that is verified in a fraction of a second.
const smallLedger = 32 << 20

// verifySmall verifies a small ledger as soon as it was read. A large one would take time from the calls.
func (r *Running) verifySmall(ctx context.Context) {
	select {
	case <-r.store.Ready():
		if r.store.Progress().Size <= smallLedger {
			r.handler.Verify()
		}
	case <-ctx.Done():
	}
}

// readyWait is how long AwaitIndex waits.
const readyWait = 500 * time.Millisecond

// AwaitIndex waits until the ledger was read, but not long, so that the first page of a small ledger is complete.
func (r *Running) AwaitIndex(ctx context.Context) {
	select {
	case <-r.store.Ready():
	case <-time.After(readyWait):
	case <-ctx.Done():
	}
}

// Address returns the URL of the pages. For all addresses of the machine it is one that a browser on it can open.
func (r *Running) Address() string {
	address := r.listener.Addr().String()
	if tcp, ok := r.listener.Addr().(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		address = net.JoinHostPort("localhost", strconv.Itoa(tcp.Port))
	}
	return "http://" + address + "/"
}

// shutdownTimeout bounds the time for the last responses.
const shutdownTimeout = 2 * time.Second

// Close ends the console. Open live feeds are ended. A nil Running is closed already.
func (r *Running) Close(ctx context.Context) error {
	if r == nil {
		return nil
	}
	r.handler.Close()
	ctx, cancel := context.WithTimeout(ctx, shutdownTimeout)
	defer cancel()
	err := r.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = r.server.Close()
	}
	r.stop()
	r.jobs.Wait()
	r.store.Close()
	return err
}

// Verify verifies the ledger in the background.
func (r *Running) Verify() { r.handler.Verify() }
