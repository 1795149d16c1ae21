// Package boundary makes an MCP server built on the official go-sdk report every failure as one readable, typed error with retry
// advice. Each failure is recorded before it is sent, and counted once.
//
// # How do I use it?
//
// For a server on standard input and output:
//
//	err := boundary.Serve(ctx, server, boundary.Options{Ledger: trail, Meter: counts})
//
// For a server over HTTP:
//
//	http.ListenAndServe("127.0.0.1:8080", boundary.Handler(server, boundary.Options{}))
//
// Package serve also opens the ledger and the meter.
//
// # Which failures does it handle?
//
// The receiving middleware ([Install]) handles the failures of handlers: it recovers panics, checks arguments and results,
// enforces deadlines and maps errors. The SDK answers malformed lines, unknown methods and rejected requests itself, so a
// transport wrapper ([Boundary.Stdio], [Boundary.Transport]) and an http.Handler wrapper ([Boundary.HTTP]) handle those. A failure
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
	"log/slog"
	"runtime"
	"sync"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/ref"
)

// Boundary reports the failures of one or several servers. It is safe for concurrent use.
type Boundary struct {
	o       Options
	running running
	results resultSizes // sizes of the handlers' results
}

// throughStream and throughNonce mark requests that passed through a wrapper around the SDK. They are shared by all boundaries.
// Clients do not know the nonce.
var (
	throughStream = &mcp.RequestExtra{}
	throughNonce  = ref.New()
)

// guarded maps each server to its boundary, as weak.Pointer[mcp.Server] → *Boundary. A server has one boundary, because two would
// record and count each failure twice.
var guarded sync.Map

var candorDialect = dialect.Must("candor")

// New returns a boundary for several servers. [Install] is the shorter way for one server.
func New(o Options) *Boundary {
	o.fill()
	return &Boundary{o: o}
}

// Install adds a boundary to a server and returns it. Call it after the server's other middleware was added, because the boundary
// does not see the failures of middleware that is added later. If the server already has a boundary, Install returns that one and
// ignores o.
//
// The middleware does not see the errors that the SDK answers itself. Serve the server through [Boundary.Stdio] or [Boundary.HTTP],
// or use [Serve] or [Handler], which install the boundary and serve.
func Install(server *mcp.Server, o Options) *Boundary {
	return New(o).install(server)
}

// Install adds the boundary to another server. A server that already has a boundary keeps it.
func (b *Boundary) Install(server *mcp.Server) { b.install(server) }

// install adds the boundary and returns the one that the server has afterwards.
func (b *Boundary) install(server *mcp.Server) *Boundary {
	known := weak.Make(server)
	if first, twice := guarded.LoadOrStore(known, b); twice {
		return first.(*Boundary) //nolint:errcheck,forcetypeassert // only boundaries are stored
	}
	runtime.AddCleanup(server, func(gone weak.Pointer[mcp.Server]) { guarded.Delete(gone) }, known)
	b.offerStats(server)
	g := &guard{b: b}
	g.tools.trouble = b.unusableSchema
	if labels, ok := b.o.Meter.(interface{ SetTools(names ...string) }); ok {
		g.tools.listed = func(names []string) { labels.SetTools(names...) } // only listed tools get their own label
	}
	server.AddReceivingMiddleware(g.receive)
	server.AddSendingMiddleware(g.send)
	return b
}

// unusableSchema logs that the arguments or results of a tool cannot be checked.
func (b *Boundary) unusableSchema(tool, which string, err error) {
	b.o.Logger.Warn("a schema cannot be used, so nothing is checked against it",
		slog.String("tool", candor.Public(tool, candor.MaxCallInfo)), slog.String("schema", which), slog.Any("error", candor.From(err)))
}
