package workbench

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/serve"
)

// Options configures a bench.
type Options struct {
	State *State // required; the caller closes it
	// Ledger is the folder of the trail. If it is empty, calls are not recorded and Open logs a warning.
	Ledger string
	// Trail configures the ledger. Its Instance and LockWait are set by Open.
	Trail ledger.Options
	// Dialect is the dialect of failures; nil selects the system's default.
	Dialect dialect.Dialect
	Stack   candor.StackPolicy
	Meter   candor.Meter
	Logger  *slog.Logger
	// Telemetry observes the calls; nil observes nothing.
	Telemetry Telemetry
	// Hosts, Origins and Token are those of [boundary.Options].
	Hosts, Origins []string
	Token          string
	Version        string
}

// Telemetry observes the calls of a system and their failures.
type Telemetry interface {
	boundary.Tracer
	// Join returns ctx with the trace in the headers of an HTTP request.
	Join(ctx context.Context, h http.Header) context.Context
	// Ledger returns a ledger that observes the failures that next records. next may be nil.
	Ledger(next candor.Ledger) candor.Ledger
}

// tracer is the tracer of a bench. It does not observe the calls of the self-audit, which no client made.
type tracer struct{ b *Bench }

// StartCall implements [boundary.Tracer].
func (t tracer) StartCall(ctx context.Context, method, tool string, meta map[string]any) (context.Context, func(*candor.Error)) {
	if !t.b.audited.Load() {
		return ctx, func(*candor.Error) {}
	}
	return t.b.telemetry.StartCall(ctx, method, tool, meta)
}

// Bench is a running system.
type Bench struct {
	system   System
	state    *State
	trail    trail
	sessions sessions
	dialect  dialect.Dialect
	log      *slog.Logger

	telemetry Telemetry   // may be nil
	audited   atomic.Bool // the self-audit has ended

	server   *mcp.Server
	boundary boundary.Options
	guard    *boundary.Boundary // of server
	wrapped  map[string]*Tool
	stdio    bool      // one connection, which is the session
	findings []Finding // of the self-audit
}

// lockWait limits the wait for another process that is opening the trail.
const lockWait = 2 * time.Second

// maxMessage is the default limit of a request on every transport: the 8 MiB that a tool accepts, and half as much again for JSON
// escapes. Text that consists of escaped characters only is limited further: 2 MiB of control characters fit, at six
// bytes each.
const maxMessage = 12 << 20

// Open builds the server of a system and audits it. If an invariant does not hold, Open succeeds, every call is refused with
// SELF_AUDIT_FAILURE, and [Bench.Findings] returns the reasons.
func Open(ctx context.Context, s System, o Options) (*Bench, error) {
	b := &Bench{system: s, state: o.State, dialect: o.Dialect, log: o.Logger, wrapped: map[string]*Tool{}}
	if b.log == nil {
		b.log = slog.Default()
	}
	if b.dialect == nil {
		b.dialect = dialect.Must(s.Dialect)
	}
	o.Trail.Instance, o.Trail.LockWait = s.Name, lockWait
	b.trail = trail{dir: o.Ledger, domain: s.Domain, o: o.Trail, log: b.log}
	b.sessions = sessions{state: o.State, byID: map[string]*Session{}, byConn: map[string]*binding{}}
	b.boundary = boundary.Options{
		Name: s.Name, Dialect: b.dialect, Stack: o.Stack, Meter: o.Meter, Logger: b.log, Hosts: o.Hosts, Origins: o.Origins, Token: o.Token, Refine: b.refine,
		MaxMessage: cmp.Or(s.MaxMessage, maxMessage), Pattern: s.Pattern,
	}
	if o.Ledger != "" {
		b.boundary.Ledger = &b.trail
	} else {
		b.log.Warn("no trail configured; calls are not recorded")
	}
	if o.Telemetry != nil {
		b.telemetry, b.boundary.Tracer, b.boundary.Ledger = o.Telemetry, tracer{b}, o.Telemetry.Ledger(b.boundary.Ledger)
	}
	if err := b.build(o.Version); err != nil {
		return nil, err
	}
	b.sessions.prune()
	b.findings = b.audit(ctx)
	b.audited.Store(true)
	return b, nil
}

// build creates the MCP server. The workbench is outside the boundary, so it sees every call, including refused ones.
func (b *Bench) build(version string) error {
	b.server = mcp.NewServer(&mcp.Implementation{Name: "candor-" + b.system.Name, Title: b.system.Title, Version: version},
		&mcp.ServerOptions{Instructions: b.system.Instructions})
	for i := range b.system.Tools {
		t := &b.system.Tools[i]
		listed, err := t.listed(b.system.Sessionless)
		if err != nil {
			return err
		}
		b.wrapped[t.Name] = t
		b.server.AddTool(listed, b.handle)
	}
	b.server.AddReceivingMiddleware(b.missing) // inside the boundary, which records and counts the failure
	b.guard = boundary.Install(b.server, b.boundary)
	b.server.AddReceivingMiddleware(b.receive)
	return nil
}

// Findings returns the invariants that did not hold at startup.
func (b *Bench) Findings() []Finding { return b.findings }

// State returns the state folder.
func (b *Bench) State() *State { return b.state }

// Dialect returns the name of the dialect of failures.
func (b *Bench) Dialect() string { return b.dialect.Name() }

// Ledger returns the folder of the trail, or "".
func (b *Bench) Ledger() string { return b.trail.dir }

// Logger returns the logger for the operator.
func (b *Bench) Logger() *slog.Logger { return b.log }

// Record appends an entry that does not belong to a call.
func (b *Bench) Record(ctx context.Context, e ledger.Entry) error { return b.trail.append(ctx, e) }

// Attest appends an entry and returns its receipt, with which the entry can be proven later. Without a trail the receipt
// is empty.
func (b *Bench) Attest(ctx context.Context, e ledger.Entry) (ledger.Receipt, error) {
	return b.trail.attest(ctx, e)
}

// Serve runs the system on standard input and output. The connection is the session.
func (b *Bench) Serve(ctx context.Context) error {
	b.stdio = true
	return serve.Run(ctx, b.server, b.guard)
}

// ServeListener runs the system over HTTP, with and without protocol sessions.
func (b *Bench) ServeListener(ctx context.Context, l net.Listener) error {
	return serve.Listen(ctx, l, b.server, b.guard)
}

// Close closes the sessions, the system and the trail, but not the state.
func (b *Bench) Close() error {
	b.sessions.close()
	var err error
	if b.system.Close != nil {
		err = b.system.Close()
	}
	return errors.Join(err, b.trail.close())
}
