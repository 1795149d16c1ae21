// Package gateway measures the gateway, as it is shipped, beside what else could stand in its place: nothing, npm's proxies,
// the reverse proxy of net/http, nginx. It is a module of its own, because what it installs is no business of ours.
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

	"github.com/candor-mcp/candor/cmd/internal/testing/load"
)

// roleEnv makes this binary one of the roles, so that each has a process of its own, as it would have in life.
const roleEnv = "CANDOR_BENCH_ROLE"

// roles are what the binary can be. They say where they listen in their first line.
var roles = map[string]func(args []string) error{
	"server": func([]string) error { return listen(load.Handler()) },
	"reverse": func(args []string) error {
		target, err := url.Parse(args[0])
		if err != nil {
			return err
		}
		transport := &http.Transport{MaxIdleConnsPerHost: 256} // as many as ours keeps: with its 2 it would only open connections
		return listen(&httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }})
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
