// Package boundary makes an MCP server built on the official go-sdk report every failure as one readable, typed error with retry
// advice. Each failure is recorded before it is sent, and counted once.
//
// # How do I use it?
//
// Package serve runs a server with a boundary, a ledger and a meter. For a transport of your own:
//
//	b := boundary.Install(server, boundary.Options{Ledger: trail, Meter: counts})
//	err := server.Run(ctx, b.Transport(os.Stdin, os.Stdout))
//
// For a server over HTTP:
//
//	http.ListenAndServe("127.0.0.1:8080", boundary.Handler(server, boundary.Options{}))
//
// For a server on another SDK use [Boundary.CallTool] with [Boundary.ServeLines] or [Boundary.HTTP], as the module
// adapters/mcpgo does.
//
// # Which failures does it handle?
//
// The receiving middleware ([Install]) handles the failures of handlers: it recovers panics, checks arguments and results,
// enforces deadlines and maps errors. The SDK answers malformed lines, unknown methods and rejected requests itself, so a
// transport wrapper ([Boundary.Transport]) and an http.Handler wrapper ([Boundary.HTTP]) handle those. A failure
// that one layer has recorded passes the others unchanged.
//
// # What may I rely on?
//
//   - A failure is recorded, then counted, then sent. A failure that cannot be recorded is sent as AUDIT_LOG_FAILED.
//   - A success is sent as the handler returned it, without added cost.
//   - The author's content blocks, JSON-RPC error data and choice of result or JSON-RPC error are kept.
//   - The package does not access a disk: the ledger and the meter are interfaces of package candor.
package boundary

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/implname"
)

// Boundary reports the failures of one or several servers. It is safe for concurrent use.
type Boundary struct {
	o Options

	stopping  context.Context //nolint:containedctx // done when handlers must stop; nil unless package serve runs the server
	stop      context.CancelFunc
	abandoned atomic.Bool // a handler was still running when the server stopped
	name      atomic.Pointer[string]
}

// guarded maps each server to its boundary, as weak.Pointer[mcp.Server] → *Boundary. A server has one boundary, because two would
// record and count each failure twice.
var guarded sync.Map

var candorDialect = dialect.Must("candor")

// New returns a boundary for several servers. [Install] is the shorter way for one server.
func New(o Options) *Boundary {
	o.fill()
	b := &Boundary{o: o}
	b.setName(o.Name)
	return b
}

// setName sets the name of the server in entries and counters, unless it has one.
func (b *Boundary) setName(name string) {
	if name != "" {
		b.name.CompareAndSwap(nil, &name)
	}
}

// serverName returns the name of the server, or "" if it is unknown.
func (b *Boundary) serverName() string {
	if name := b.name.Load(); name != nil {
		return *name
	}
	return ""
}

// Install adds a boundary to a server and returns it. Call it after the server's other middleware was added, because the boundary
// does not see the failures of middleware that is added later. A server has one boundary: if it already has one, Install returns that
// one, and logs to o.Logger that o is not used.
//
// The middleware does not see the errors that the SDK answers itself. Serve the server through [Boundary.Transport] or
// [Boundary.HTTP], or use [Handler] or package serve.
func Install(server *mcp.Server, o Options) *Boundary {
	return New(o).install(server)
}

// Install adds the boundary to another server. A server that already has another boundary keeps that one, which is logged.
func (b *Boundary) Install(server *mcp.Server) { b.install(server) }

// install adds the boundary and returns the one that the server has afterwards.
func (b *Boundary) install(server *mcp.Server) *Boundary {
	known := weak.Make(server)
	if first, twice := guarded.LoadOrStore(known, b); twice {
		if first != b {
			b.o.Logger.Warn("the server already has a boundary; the options of this one are not used")
		}
		return first.(*Boundary) //nolint:errcheck,forcetypeassert // only boundaries are stored
	}
	runtime.AddCleanup(server, func(gone weak.Pointer[mcp.Server]) { guarded.Delete(gone) }, known)
	b.setName(implname.Of(server))
	b.offerStats(server)
	g := &guard{b: b, tools: toolbox{b: b}}
	server.AddReceivingMiddleware(g.receive)
	server.AddSendingMiddleware(g.send)
	return b
}
