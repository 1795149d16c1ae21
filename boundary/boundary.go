package boundary

import (
	"runtime"
	"sync"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/ref"
)

// Boundary is the edge of one or several servers. It is safe for concurrent use.
type Boundary struct {
	o       Options
	guarded sync.Map          // weak.Pointer[mcp.Server]: installing twice must not count twice
	stream  *mcp.RequestExtra // marks a request that came through the stream wrapper
	nonce   string            // marks one that came through the HTTP wrapper
	running running
}

var candorDialect = mustDialect("candor")

func mustDialect(name string) dialect.Dialect {
	d, err := dialect.Lookup(name)
	if err != nil {
		panic(err) // programmer: the name is a literal
	}
	return d
}

// New returns a boundary for several servers; [Install] is the short way for one.
func New(o Options) *Boundary {
	o.fill()
	return &Boundary{o: o, stream: &mcp.RequestExtra{}, nonce: ref.New()}
}

// Install puts a boundary around a server and returns it. Call it after the server's own middleware was added: what is added
// later stands outside. Installing a boundary twice does nothing the second time.
//
// The middleware alone cannot see what the SDK answers by itself. Serve the server through [Boundary.Stdio] or [Boundary.HTTP],
// or let [Serve] and [Handler] do all of it.
func Install(server *mcp.Server, o Options) *Boundary {
	b := New(o)
	b.Install(server)
	return b
}

// Install puts the boundary around one more server.
func (b *Boundary) Install(server *mcp.Server) {
	known := weak.Make(server)
	if _, twice := b.guarded.LoadOrStore(known, true); twice {
		return
	}
	runtime.AddCleanup(server, func(gone weak.Pointer[mcp.Server]) { b.guarded.Delete(gone) }, known)
	b.offerStats(server)
	g := &guard{b: b}
	if labels, ok := b.o.Meter.(interface{ SetTools(names ...string) }); ok {
		g.tools.listed = func(names []string) { labels.SetTools(names...) } // only real tools get a label of their own
	}
	server.AddReceivingMiddleware(g.receive)
	server.AddSendingMiddleware(g.send)
}
