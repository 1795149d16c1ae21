package dualcmd

import (
	"context"
	"errors"
	"net"
	"net/http"
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
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/router"
	"github.com/candor-mcp/candor/internal/plug"
	"github.com/candor-mcp/candor/meter"
)

// dualUpstreams are the servers of the router. Each stands behind a gateway, which applies the policies of its file and records failures.
type dualUpstreams struct {
	plugs *service.Sinks
	doors []*dualDoor
}

// openUpstreams reads the file that --upstreams names. Nothing is started before the first call.
func (c *dualCommand) openUpstreams(cmd *cobra.Command, state *workbench.State) (*dualUpstreams, []router.Upstream, error) {
	costs, err := parseCosts(c.costs)
	if err != nil {
		return nil, nil, err
	}
	if c.upstreams == "" {
		if len(costs) > 0 {
			return nil, nil, term.BadInput("name the file with --upstreams", "--cost means nothing without --upstreams")
		}
		return &dualUpstreams{}, nil, nil
	}
	file, err := config.Read(c.upstreams, config.Source{Getenv: c.W.Getenv})
	if err != nil {
		return nil, nil, service.BadFile("--upstreams", err)
	}
	all := &dualUpstreams{plugs: &service.Sinks{W: c.W, Cmd: cmd, Log: c.Logs.Logger(c.W.Err), JSON: c.Logs.JSONLogs, Dir: c.TrailDir(c.W, state)}}
	if all.plugs.Counts, err = meter.New(meter.Options{}); err != nil { // of the gateways; those of the server count its own failures
		return nil, nil, err
	}
	if all.plugs.Dir != "" {
		all.plugs.Ledger, err = plug.Ledger(all.plugs.Dir, c.Logs.Keep.Options(all.plugs.Dir, "dual-router", c.W.Getenv, all.plugs.Log), all.plugs.Log)
		if err != nil {
			return nil, nil, term.BadInput("name a folder that can be written with --ledger", "%s", term.TrimHint(err))
		}
	}
	var upstreams []router.Upstream
	for _, u := range file.Upstreams {
		u.HTTP.Token = "" // which is for clients that come over a network
		d := newDualDoor(gatewaycmd.OpenDoor(all.plugs, u, gatewaycmd.ForeignSecrets(file, u)))
		all.doors = append(all.doors, d)
		upstreams = append(upstreams, router.Upstream{Name: u.Name, Cost: costs[u.Name], Dial: d.dial})
		delete(costs, u.Name)
	}
	for name := range costs {
		return nil, nil, errors.Join(term.BadInput("name one that the file has", "--cost: upstream %q not found", name), all.close())
	}
	return all, upstreams, nil
}

// parseCosts reads NAME=NUMBER.
func parseCosts(flags []string) (map[string]float64, error) {
	costs := map[string]float64{}
	for _, flag := range flags {
		name, text, ok := strings.Cut(flag, "=")
		cost, err := strconv.ParseFloat(text, 64)
		if !ok || err != nil || name == "" || cost < 0 || cost > 1e6 {
			return nil, term.BadInput("such as --cost big=0.02", "--cost %q is not NAME=NUMBER", flag)
		}
		costs[name] = cost
	}
	return costs, nil
}

// Close ends the servers that were started.
func (a *dualUpstreams) close() error {
	if a == nil || a.plugs == nil {
		return nil
	}
	var err error
	for _, d := range a.doors {
		err = errors.Join(err, d.close())
	}
	return errors.Join(err, a.plugs.Close())
}

// dualDoor serves a gateway inside the process: connections are pipes, and no port is opened.
type dualDoor struct {
	door   *gatewaycmd.Door
	server *http.Server
	conns  pipeListener
	client *http.Client
	begin  sync.Once
}

func newDualDoor(d *gatewaycmd.Door) *dualDoor {
	p := &dualDoor{door: d, conns: pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}}
	p.server = &http.Server{Handler: d.Handler, ReadHeaderTimeout: time.Minute}
	p.client = &http.Client{Transport: &http.Transport{DialContext: p.conns.dial}}
	return p
}

// dial begins a session with the server behind the gateway.
func (d *dualDoor) dial(ctx context.Context) (router.Conn, error) {
	d.begin.Do(func() {
		go d.server.Serve(&d.conns) //nolint:errcheck // it ends with close
	})
	return router.Connect(ctx, "http://localhost/mcp", d.client, nil)
}

func (d *dualDoor) close() error {
	d.client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := d.door.Close(ctx)
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

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }
