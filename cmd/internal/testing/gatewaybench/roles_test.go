// Package gatewaybench compares the shipped gateway with alternatives: a direct connection, npm's proxies,
// the reverse proxy of net/http, nginx.
package gatewaybench

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

// roleEnv makes this binary run as one of the roles, so that each has a separate process as in production.
const roleEnv = "CANDOR_BENCH_ROLE"

// roles are the programs that the binary can run. They print their address in the first line.
var roles = map[string]func(args []string) error{
	"server": func([]string) error { return listen(load.Server) },
	"reverse": func(args []string) error {
		target, err := url.Parse(args[0])
		if err != nil {
			return err
		}
		transport := &http.Transport{MaxIdleConnsPerHost: 256} // as many as candor keeps: with the default of 2 it would mostly open connections
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

// listen serves until stdin is closed, which happens when the parent process ends.
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
