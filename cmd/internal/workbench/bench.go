package workbench

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/ledger"
)

// Options says how a system runs.
type Options struct {
	State *State // required; it stays the caller's
	// Ledger is the folder of the trail. Empty is none, which is a choice that is logged.
	Ledger string
	// Trail says how the ledger is kept. Instance and LockWait are those of the workbench.
	Trail ledger.Options
	// Dialect is what it speaks; nil is the system's own.
	Dialect dialect.Dialect
	Stack   candor.StackPolicy
	Meter   boundary.Meter
	Logger  *slog.Logger
	// Hosts, Origins and Token are those of [boundary.Options].
	Hosts, Origins []string
	Token          string
	Version        string

	// LockWait bounds the wait for another process that is just opening the trail; 0 is 2 seconds.
	LockWait time.Duration
	now      func() time.Time
}

// Bench is a system that runs.
type Bench struct {
	system   System
	state    *State
	trail    trail
	sessions sessions
	dialect  dialect.Dialect
	log      *slog.Logger
	now      func() time.Time

	server   *mcp.Server
	boundary boundary.Options
	wrapped  map[string]*Tool
	stdio    bool      // there is one connection, and it is the session
	findings []Finding // of the audit at the start
}

const lockWait = 2 * time.Second

// maxMessage is what a call may measure by whichever door: the 8 MiB that a tool takes, with half as much for escapes. That is enough for
// ordinary text, and not for one that JSON escapes throughout: of control characters, at six bytes each, 2 MiB fit.
const maxMessage = 12 << 20

// Open puts a system together and audits it. A fault that the audit finds does not end the program: every call is refused with
// SELF_AUDIT_FAILURE, and [Bench.Findings] tells.
func Open(ctx context.Context, s System, o Options) (*Bench, error) {
	b := &Bench{system: s, state: o.State, dialect: o.Dialect, log: o.Logger, now: o.now, wrapped: map[string]*Tool{}}
	if b.log == nil {
		b.log = slog.Default()
	}
	if b.now == nil {
		b.now = time.Now
	}
	if b.dialect == nil {
		b.dialect = dialect.Must(s.Dialect)
	}
	if o.LockWait == 0 {
		o.LockWait = lockWait
	}
	o.Trail.Instance, o.Trail.LockWait = s.Name, o.LockWait
	b.trail = trail{dir: o.Ledger, o: o.Trail, log: b.log, now: b.now}
	b.sessions = sessions{state: o.State, now: b.now, byID: map[string]*Session{}, byPlace: map[string]*binding{}}
	b.boundary = boundary.Options{
		Dialect: b.dialect, Stack: o.Stack, Meter: o.Meter, Logger: b.log, Hosts: o.Hosts, Origins: o.Origins, Token: o.Token, Refine: b.refine,
		MaxMessage: maxMessage, Pattern: s.Pattern,
	}
	if o.Ledger != "" {
		b.boundary.Ledger = &b.trail
	} else {
		b.log.Warn("nothing is recorded: the server runs without a trail")
	}
	if err := b.build(o.Version); err != nil {
		return nil, err
	}
	b.sessions.prune()
	b.findings = b.audit(ctx)
	return b, nil
}

// build makes the server. The workbench stands outside the boundary, so that it knows of every call, the refused ones too.
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
	if b.system.Missing != nil {
		b.server.AddReceivingMiddleware(b.missing) // inside the boundary, which records and counts the failure
	}
	boundary.Install(b.server, b.boundary)
	b.server.AddReceivingMiddleware(b.receive)
	return nil
}

// Findings returns the invariants that did not hold at the start.
func (b *Bench) Findings() []Finding { return b.findings }

// State returns the state folder.
func (b *Bench) State() *State { return b.state }

// Ledger returns the folder of the trail, "" if there is none.
func (b *Bench) Ledger() string { return b.trail.dir }

// Logger returns where the operator is told things.
func (b *Bench) Logger() *slog.Logger { return b.log }

// Now returns the time.
func (b *Bench) Now() time.Time { return b.now() }

// Keep makes a session durable. The error is TOO_MANY_SESSIONS, or what the disk said.
func (b *Bench) Keep(s *Session) error { return b.sessions.keep(s) }

// Discard ends a session that was kept and that nobody has used, and gives back what its system kept with it.
func (b *Bench) Discard(s *Session) error { return b.sessions.discard(s) }

// Record appends an entry that belongs to no call.
func (b *Bench) Record(ctx context.Context, e ledger.Entry) error { return b.trail.append(ctx, e) }

// Attest appends an entry and returns where it stands, so that it can be proven later. Without a trail the receipt is empty.
func (b *Bench) Attest(ctx context.Context, e ledger.Entry) (ledger.Receipt, error) {
	return b.trail.attest(ctx, e)
}

// Serve runs the system on standard input and output. The connection is the session.
func (b *Bench) Serve(ctx context.Context) error {
	b.stdio = true
	return boundary.Serve(ctx, b.server, b.boundary)
}

// ServeListener runs the system over HTTP, in both eras of the protocol.
func (b *Bench) ServeListener(ctx context.Context, l net.Listener) error {
	return boundary.ServeListener(ctx, l, b.server, b.boundary)
}

// Close gives everything back but the state.
func (b *Bench) Close() error {
	b.sessions.close()
	var err error
	if b.system.Close != nil {
		err = b.system.Close()
	}
	return errors.Join(err, b.trail.close())
}
