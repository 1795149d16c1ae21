package consolecmd

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/console"
	"github.com/candor-mcp/candor/cmd/internal/console/failures"
	"github.com/candor-mcp/candor/internal/httpguard"
	"github.com/candor-mcp/candor/internal/ledgerconfig"
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

	Flag, TokenFlag string // names of the flags for errors; "" is --listen and --token-env
	Nodes           bool   // Dir has the ledgers of many nodes, each in a folder with its name

	Servers  console.ServerSource // nil if no server runs here
	Profiles Profiles             // nil offers no rules
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
			"%s %s: other machines can connect, and no token is named", flag, o.Listen)
	}
	store, err := failures.Open(o.Dir, failures.Options{Nodes: o.Nodes})
	if err != nil {
		return nil, term.BadInput("name the folder of the ledger", "%s", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Listen)
	if err != nil {
		_ = store.Close() // it was only read
		return nil, &term.Error{Code: term.ExitUsage, Text: err.Error(), Hint: "stop the process that uses this port, or choose another address with " + flag, Cause: ErrInUse}
	}
	r := &Running{store: store, listener: listener}
	hosts := o.Hosts
	if !local && len(hosts) == 0 {
		hosts = []string{host}
	}
	pages := console.Options{
		Dir: o.Dir, Failures: store, Token: o.Token, Hosts: hosts, Servers: o.Servers,
		Version: term.ReadBuildInfo().Version, Log: o.Log,
	}
	if !o.Nodes {
		pages.WitnessCopies = ledgerconfig.WitnessCopies(o.Dir, env.Getenv)
	}
	if o.Profiles != nil {
		pages.Rules = &ruleMaker{dir: o.Dir, profiles: o.Profiles}
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
}

// Address returns the URL of the pages. For all addresses of the machine it is one that a browser on it can open.
func (r *Running) Address() string {
	address := r.listener.Addr().String()
	if tcp, ok := r.listener.Addr().(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		address = net.JoinHostPort("localhost", strconv.Itoa(tcp.Port))
	}
	return "http://" + address + "/"
}

// Link returns the URL that logs one browser in, once. It is printed and not opened: other users of the machine see the
// arguments of a browser.
func (r *Running) Link() string {
	return strings.TrimSuffix(r.Address(), "/") + r.handler.LoginPath()
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
	return errors.Join(err, r.store.Close())
}

// Verify verifies the ledger in the background.
func (r *Running) Verify() { r.handler.Verify() }
