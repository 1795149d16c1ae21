// Package serve runs an MCP server that is built on the official go-sdk with all parts of Candor: every failure is sent as one typed
// error, recorded in a ledger, and counted.
//
// # When do I need it?
//
// Use it if the defaults suit your server. It only combines packages boundary, ledger and meter; a program that opens its own ledger or
// uses another SDK uses those packages, or boundary/mcpgo, directly.
//
// # How do I start?
//
// Replace the call of server.Run:
//
//	if err := serve.Stdio(ctx, server, serve.Config{}); err != nil {
//		log.Fatal(err)
//	}
//
// [HTTP] serves over HTTP. Both return nil after a graceful stop, when ctx ends or on SIGINT or SIGTERM. [Open] is for a program with its
// own transport.
//
// # What does it write and read?
//
// The ledger is in the state directory of the user, unless [Config.Ledger] or CANDOR_LEDGER names another. The dialect, the stack policy
// and the counters are set by environment variables, see [EnvLedger] and package meter.
//
// # What can go wrong?
//
// If the ledger cannot be opened or a setting is invalid, the server does not start, and the error says what to change. If an entry
// cannot be written later, the call fails with AUDIT_LOG_FAILED.
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
