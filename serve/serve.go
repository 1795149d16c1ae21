// Package serve runs an MCP server that is built on the official go-sdk with all parts of Candor: every failure is sent as one typed
// error, recorded in a ledger, and counted.
//
// # When do I need it?
//
// Use it if the defaults suit your server. It only combines packages boundary, ledger and meter; a program that opens its own ledger or
// uses another SDK uses those packages, or adapters/mcpgo, directly.
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
// and the counters are set by environment variables: CANDOR_LEDGER, CANDOR_WITNESS_COPY, CANDOR_LEDGER_KEEP_AGE, CANDOR_DIALECT, DEBUG_STACK,
// MCP_ERRORS_VERBOSE and those of package meter.
//
// # What can go wrong?
//
// If the ledger cannot be opened or a setting is invalid, the server does not start, and the error says what to change. If an entry
// cannot be written later, the call fails with AUDIT_LOG_FAILED.
package serve

import (
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/internal/implname"
	"github.com/candor-mcp/candor/internal/serving"
)

// Stdio serves on standard input and output until the client closes its end, ctx is done or SIGINT or SIGTERM is received. In all
// three cases open calls are answered, the counters are written and the ledger is closed.
func Stdio(ctx context.Context, server *mcp.Server, c Config) error {
	return with(ctx, server, c, func(ctx context.Context, o boundary.Options) error {
		return Run(ctx, server, boundary.Install(server, o))
	})
}

// HTTP serves over HTTP until ctx is done or SIGINT or SIGTERM is received. An empty address means 127.0.0.1:8080.
func HTTP(ctx context.Context, addr string, server *mcp.Server, c Config) error {
	return with(ctx, server, c, func(ctx context.Context, o boundary.Options) error {
		if addr == "" {
			addr = "127.0.0.1:8080"
		}
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
		if err != nil {
			return err
		}
		return Listen(ctx, listener, server, boundary.Install(server, o))
	})
}

// Run is [Stdio] for a program with its own boundary. It does not handle signals, and does not open or close a ledger. It returns an error if
// reading fails, or if a handler ignores its context and is still running at the end.
//
// While Run runs, os.Stdout is os.Stderr, so that a handler that prints does not corrupt the protocol. Output of C libraries and child
// processes to file descriptor 1 is not redirected.
func Run(ctx context.Context, server *mcp.Server, b *boundary.Boundary) error {
	return serving.Stdio(ctx, b, server)
}

// Listen is [HTTP] for a program with its own boundary, on an open listener, which it closes. It answers on every path; see
// [boundary.Handler]. Set [boundary.Options].Hosts and Token before serving other machines.
func Listen(ctx context.Context, listener net.Listener, server *mcp.Server, b *boundary.Boundary) error {
	return serving.HTTP(ctx, b, server, listener)
}

// with opens the parts of the configuration, named after the server, calls run and closes them.
func with(ctx context.Context, server *mcp.Server, c Config, run func(context.Context, boundary.Options) error) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	c.Options.Name = cmp.Or(c.Options.Name, implname.Of(server))
	parts, err := Open(ctx, c)
	if err != nil {
		return err
	}
	return errors.Join(run(ctx, parts.Options), parts.Close())
}
