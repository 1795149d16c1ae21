package dualcmd

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/gatewaycmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual"
	"github.com/candor-mcp/candor/internal/ledgerconfig"
	"github.com/candor-mcp/candor/meter"
)

// dualUpstreams are the servers of the router. Each is behind a gateway that applies its policies and records failures.
type dualUpstreams struct {
	sinks   *service.Sinks
	servers []*localServer
}

// openUpstreams reads the file of --upstreams. Servers are started at their first call.
func (c *dualCommand) openUpstreams(cmd *cobra.Command, state *workbench.State) (*dualUpstreams, []*dual.Upstream, error) {
	costs, err := parseCosts(c.costs)
	if err != nil {
		return nil, nil, err
	}
	if c.upstreams == "" {
		if len(costs) > 0 {
			return nil, nil, term.BadInput("name the file with --upstreams", "--cost: needs --upstreams")
		}
		return &dualUpstreams{}, nil, nil
	}
	file, err := config.Read(c.upstreams, config.Source{Getenv: c.Env.Getenv})
	if err != nil {
		return nil, nil, service.BadFile("--upstreams", err)
	}
	term.Withhold(file.TokenEnv)
	all := &dualUpstreams{sinks: &service.Sinks{Env: c.Env, Cmd: cmd, Log: c.Logs.Logger(c.Env.Err), JSON: c.Logs.JSONLogs, Dir: c.LedgerDir(c.Env, state)}}
	if all.sinks.Counts, err = meter.New(meter.Options{}); err != nil { // for the gateways; the server counts its failures separately
		return nil, nil, err
	}
	if all.sinks.Dir != "" {
		options, err := c.Logs.Keep.Options(all.sinks.Dir, "dual-router", c.Env.Getenv, all.sinks.Log)
		if err != nil {
			return nil, nil, err
		}
		all.sinks.Ledger, err = ledgerconfig.Ledger(all.sinks.Dir, c.Shipped(options), all.sinks.Log)
		if err != nil {
			return nil, nil, term.BadInput("name a folder that can be written with --ledger", "%s", term.TrimHint(err))
		}
	}
	var upstreams []*dual.Upstream
	for _, u := range file.Upstreams {
		u.HTTP.Token = "" // the token is only for clients on the network
		d := newLocalServer(gatewaycmd.OpenEndpoint(all.sinks, u, file.Environ(&u, os.Environ())))
		all.servers = append(all.servers, d)
		upstreams = append(upstreams, &dual.Upstream{Name: u.Name, Cost: costs[u.Name], URL: "http://localhost/mcp", Client: d.client})
		delete(costs, u.Name)
	}
	for name := range costs {
		return nil, nil, errors.Join(term.BadInput("name an upstream of the file", "--cost: upstream %q not found", name), all.close())
	}
	return all, upstreams, nil
}

// parseCosts parses NAME=NUMBER.
func parseCosts(flags []string) (map[string]float64, error) {
	costs := map[string]float64{}
	for _, flag := range flags {
		name, text, ok := strings.Cut(flag, "=")
		cost, err := strconv.ParseFloat(text, 64)
		if !ok || err != nil || name == "" || cost < 0 || cost > 1e6 {
			return nil, term.BadInput("such as --cost big=0.02", "--cost %q: not NAME=NUMBER", flag)
		}
		costs[name] = cost
	}
	return costs, nil
}

// close stops the servers.
func (a *dualUpstreams) close() error {
	if a == nil || a.sinks == nil {
		return nil
	}
	var err error
	for _, d := range a.servers {
		err = errors.Join(err, d.close())
	}
	return errors.Join(err, a.sinks.Close())
}

// localServer serves an endpoint inside the process: connections are pipes, and no port is opened.
type localServer struct {
	endpoint *gatewaycmd.Endpoint
	server   *http.Server
	conns    pipeListener
	client   *http.Client
}

func newLocalServer(d *gatewaycmd.Endpoint) *localServer {
	p := &localServer{endpoint: d, conns: pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}}
	p.server = &http.Server{Handler: d.Handler, ReadHeaderTimeout: time.Minute}
	go p.server.Serve(&p.conns) //nolint:errcheck // ends with close
	p.client = &http.Client{Transport: &http.Transport{DialContext: p.conns.dial}}
	return p
}

func (d *localServer) close() error {
	d.client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := d.endpoint.Close(ctx)
	return errors.Join(err, d.conns.Close(), d.server.Close())
}

// pipeListener accepts connections that dial makes.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.conns <- there:
		return here, nil
	case <-l.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements [net.Listener].
func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr implements [net.Listener].
func (l *pipeListener) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

// Network implements [net.Addr].
func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }
