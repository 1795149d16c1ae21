// Package serve is the whole of Candor around one server in one line: a boundary, a ledger in the state folder, counters, stack
// policy and dialect by the environment, and an orderly end on a signal.
//
//	log.Fatal(serve.Stdio(ctx, server, serve.Config{}))
//
// It only plugs together what packages boundary, ledger and meter offer; a program that wants something else uses those.
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

// Stdio serves on standard input and output until the client closes its end, ctx is done or a signal asks to stop. All three are a
// clean end: open calls are answered, the counters are written, the ledger is closed.
func Stdio(ctx context.Context, server *mcp.Server, c Config) error {
	return with(ctx, c, func(ctx context.Context, o boundary.Options) error {
		return boundary.Serve(ctx, server, o)
	})
}

// HTTP serves over HTTP until ctx is done or a signal asks to stop. An empty address is 127.0.0.1:8080.
func HTTP(ctx context.Context, addr string, server *mcp.Server, c Config) error {
	return with(ctx, c, func(ctx context.Context, o boundary.Options) error {
		return boundary.ListenAndServe(ctx, addr, server, o)
	})
}

// with opens what the configuration names, runs and closes it again.
func with(ctx context.Context, c Config, run func(context.Context, boundary.Options) error) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	parts, err := Open(ctx, c)
	if err != nil {
		return err
	}
	return errors.Join(run(ctx, parts.Options), parts.Close())
}
