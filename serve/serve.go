// Package serve runs one server with all parts of Candor: a boundary, a ledger in the state directory, counters, and a stack policy
// and dialect set by the environment. It stops gracefully on a signal.
//
//	log.Fatal(serve.Stdio(ctx, server, serve.Config{}))
//
// The package only combines packages boundary, ledger and meter; programs with other needs can use those directly.
package serve

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/boundary"
)

// Stdio serves on standard input and output until the client closes its end, ctx is done or SIGINT or SIGTERM is received. In all
// three cases open calls are answered, the counters are written and the ledger is closed.
func Stdio(ctx context.Context, server *mcp.Server, c Config) error {
	return with(ctx, c, func(ctx context.Context, o boundary.Options) error {
		return boundary.Serve(ctx, server, o)
	})
}

// HTTP serves over HTTP until ctx is done or SIGINT or SIGTERM is received. An empty address means 127.0.0.1:8080.
func HTTP(ctx context.Context, addr string, server *mcp.Server, c Config) error {
	return with(ctx, c, func(ctx context.Context, o boundary.Options) error {
		return boundary.ListenAndServe(ctx, addr, server, o)
	})
}

// with opens the parts of the configuration, calls run and closes them.
func with(ctx context.Context, c Config, run func(context.Context, boundary.Options) error) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	parts, err := Open(ctx, c)
	if err != nil {
		return err
	}
	return errors.Join(run(ctx, parts.Options), parts.Close())
}
