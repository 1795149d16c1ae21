// Package gateway measures the gateway beside what else could stand in its place: nothing, npm's proxies, net/http's reverse proxy,
// nginx. It is a module of its own, because what it installs is no business of ours.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/candor-mcp/candor/gateway"
	"github.com/candor-mcp/candor/internal/load"
	"github.com/candor-mcp/candor/internal/plug/trail"
	"github.com/candor-mcp/candor/ledger"
)

// roleEnv makes this binary one of the roles, so that each has a process of its own, as it would have in life.
const roleEnv = "CANDOR_BENCH_ROLE"

// roles are what the binary can be. Those over HTTP say where they listen in their first line.
var roles = map[string]func(args []string) error{
	"wrap":   func([]string) error { return wrap() },
	"server": func([]string) error { return listen(load.Handler()) },
	"reverse": func(args []string) error {
		target, err := url.Parse(args[0])
		if err != nil {
			return err
		}
		transport := &http.Transport{MaxIdleConnsPerHost: 256} // as many as ours keeps: with its 2 it would only open connections
		return listen(&httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }})
	},
	"door": func(args []string) error { return door(args[0], "") },
	"recording-door": func(args []string) error {
		return door(args[0], args[1])
	},
}

func TestMain(m *testing.M) {
	if load.Wanted() {
		os.Exit(load.Main())
	}
	role, ok := roles[os.Getenv(roleEnv)]
	if !ok {
		os.Exit(m.Run())
	}
	if err := role(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// wrap stands between its own stdin and stdout and the server, as candor wrap does.
func wrap() error {
	child := gateway.Child{Command: os.Args[0], Env: append(os.Environ(), load.Env+"="+load.Plain)}
	exit, err := gateway.New(gateway.Options{}).Wrap(context.Background(), gateway.Streams{In: os.Stdin, Out: os.Stdout}, child)
	if err == nil && exit.Code != 0 {
		err = fmt.Errorf("the server ended: %v", exit.Server)
	}
	return err
}

// door stands in front of the server at target. Failures go into a ledger in dir, unless that is "".
func door(target, dir string) error {
	at, err := url.Parse(target)
	if err != nil {
		return err
	}
	o := gateway.Options{Repeats: gateway.RepeatPolicy{Off: true}} // or most failures would never reach the server
	if dir != "" {
		l, err := ledger.Open(dir, ledger.Options{})
		if err != nil {
			return err
		}
		o.Ledger = trail.Of(l) // it is never closed: the process is killed in the end
	}
	return listen(gateway.New(o).Door(at, gateway.HTTPOptions{}))
}

// listen serves until stdin ends, which it does when whoever started this process has.
func listen(h http.Handler) error {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		_ = s.Close()
	}()
	fmt.Println(l.Addr())
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
