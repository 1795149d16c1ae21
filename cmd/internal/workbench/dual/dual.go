// Package dual is a server for tasks, thought records and attestations, with 27 tools. Its failures have two shapes: a
// tool of pattern A throws, and the result is marked isError; a tool of pattern B returns its domain failures as data
// of a success, unmarked:
//
//	A  {"ok":false,"error":{"code":…,"message":…,"details":…}}
//	B  {"ok":true,"data":{"ok":false,"error":{"code":…,"message":…,"details":…}}}
//
// The dialect dual-unified writes A for both, with isError set and the code in one position.
//
// # Promises
//
//   - Every change is one transaction. After a crash it is complete or absent.
//   - A task is not DONE before a thought was recorded for it, and changes its status only along the state machine.
//   - A thought record is chained to the one before it, and its hash covers every field. The ledger attests each record
//     when it is made, so that a change, a removal, or a completely rewritten chain is detected.
//   - An audit session is finalised once. Its root covers all of its records, and each record has a proof.
//   - With --access readonly or minimal, a tool that is not allowed is refused before its arguments are read.
package dual

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/store"
	dualcode "github.com/candor-mcp/candor/codes/dual"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// Domain is the domain of the error codes.
const Domain = "dual"

// toolCount is the number of tools. The server checks it when it starts.
var toolCount = 27

// Options configures the system.
type Options struct {
	State *workbench.State
	// Access limits the tools; "" is [AccessFull].
	Access Access
	// Upstreams are the servers that the router chooses from.
	Upstreams []*Upstream
	// LockWait is the maximum wait of a call for another call of the same tool; 0 is 5 seconds.
	LockWait time.Duration
	// Database configures the database.
	Database store.Options
	// Version is shown by server_health.
	Version string
	// Drill adds a tool that fails on request, to test how a client reacts.
	Drill bool
}

// System is the server, to be run by [workbench.Open].
type System struct {
	o     Options
	store *store.Store
	locks locks
	begun time.Time

	opening sync.Mutex
	opened  bool // the ledger has an entry that the database is used with it

	attesting sync.Mutex
	late      []func(context.Context) error // attestations that failed, oldest first
}

// New opens the database and returns the system. The caller must call [System.Close].
func New(ctx context.Context, o Options) (*System, error) {
	if o.Access == "" {
		o.Access = AccessFull
	}
	if !o.Access.Valid() {
		return nil, fmt.Errorf("access %q: want one of %v", o.Access, Accesses())
	}
	if o.LockWait <= 0 {
		o.LockWait = 5 * time.Second
	}
	for _, u := range o.Upstreams {
		u.lock = make(chan struct{}, 1)
	}
	db, err := store.Open(ctx, o.State.Dir(), o.Database)
	if err != nil {
		return nil, err
	}
	return &System{o: o, store: db, locks: newLocks(o.LockWait), begun: time.Now()}, nil
}

// Close closes the database and the connections to upstreams.
func (s *System) Close() error {
	err := s.store.Close()
	for _, u := range s.o.Upstreams {
		err = errors.Join(err, u.close())
	}
	return err
}

// Start attests records that an earlier process did not attest.
func (s *System) Start(ctx context.Context, b *workbench.Bench) {
	if s.o.Access != AccessFull || len(b.Findings()) > 0 {
		return // nothing is written
	}
	if err := s.attestPending(ctx, b); err != nil {
		b.Logger().Error("attesting earlier records", slog.Any("error", err))
	}
}

const instructions = `Tasks, thought records and attestations.
1. task_create makes a task. task_next_actions says what may follow; task_update changes its status, one step at a time: INIT, GATHER, ANALYZE, PLAN, APPLY, VERIFY, DONE.
2. thought_record records why you do what you do. A task needs at least one record before it can be DONE.
3. audit_session_start, then thought_record, then merkle_finalize: the session gets a root that covers its records. merkle_root returns it, with record_id also the proof of a record.
4. An answer is {"ok":true,"data":…}. A failure is {"ok":false,"error":{"code":…,"message":…}}; of the tools task_*, audit_session_start and merkle_* also as data of a success: check data.ok, too.`

// Describe returns the description of the system for the workbench.
func (s *System) Describe() workbench.System {
	return workbench.System{
		Name: "dual", Title: "Tasks, trail and attestations", Instructions: instructions, Dialect: "dual", Domain: Domain,
		Tools: s.tools(), Sessionless: true, StrictNull: true, Gate: s.admit, Refine: refine, Pattern: PatternOf, Close: s.Close,
		Invariants: []workbench.Invariant{
			{ID: "INV_STARTUP_TOOL_COUNT", About: fmt.Sprintf("The server has %d tools.", toolCount), Check: s.countTools},
			{ID: "INV_STARTUP_DATABASE_ATTESTED", About: "The database is the one that the trail attests.", Check: s.databaseAttested},
		},
	}
}

func (s *System) countTools(context.Context, *workbench.Bench) error {
	count := len(s.tools())
	if s.o.Drill {
		count--
	}
	if count != toolCount {
		return fmt.Errorf("%d tools, want %d", count, toolCount)
	}
	return nil
}

// tools returns all tools. Each holds its lock while it runs; router_call holds it only for a part of its work.
func (s *System) tools() []workbench.Tool {
	tools := []workbench.Tool{
		s.serverPing(), s.serverHealth(),
		s.thoughtRecord(), s.thoughtRecordList(), s.auditVerifyChain(),
		s.skillList(),
		s.reputationGet(), s.reputationHistory(), s.reputationLeaderboard(), s.reputationCheckGates(),
		s.consensusPropose(), s.consensusVote(), s.consensusFinality(), s.consensusGossip(),
		s.vrfEval(),
		s.routerScore(), s.routerCall(), s.routerFallback(), s.routerStats(),
		s.taskCreate(), s.taskGet(), s.taskUpdate(), s.taskList(), s.taskNextActions(),
		s.auditSessionStart(), s.merkleFinalize(), s.merkleRoot(),
	}
	if s.o.Drill {
		tools = append(tools, drill())
	}
	for i := range tools {
		t := &tools[i]
		t.Codes = append(t.Codes, dualcode.InvalidParams, dualcode.HandlerError, dualcode.ToolLockTimeout, kaiza.SelfAuditFailure, candor.CodeLedgerFailed)
		if !AccessMinimal.admits(t) {
			t.Codes = append(t.Codes, dualcode.ToolNotAdmitted)
		}
		if s.locks.tools[t.Name] == nil {
			s.locks.tools[t.Name] = make(chan struct{}, 1)
		}
		if t.Name != routerCallName { // which acquires its lock itself
			t.Run = s.locks.guard(t.Name, t.Run)
		}
	}
	return tools
}

// Access selects the tools that a server allows.
type Access string

// The kinds of access.
const (
	AccessFull     Access = "full"     // all tools
	AccessReadOnly Access = "readonly" // tools that change nothing
	AccessMinimal  Access = "minimal"  // server_ping and server_health
)

// Accesses returns all kinds of access. The caller owns the slice.
func Accesses() []Access { return []Access{AccessFull, AccessReadOnly, AccessMinimal} }

// Valid reports whether a is one of the kinds.
func (a Access) Valid() bool { return slices.Contains(Accesses(), a) }

// admits reports whether a tool may be called.
func (a Access) admits(t *workbench.Tool) bool {
	switch a {
	case AccessReadOnly:
		return t.ReadOnly
	case AccessMinimal:
		return t.Name == "server_ping" || t.Name == "server_health"
	default:
		return true
	}
}

// admit refuses calls of tools that the access does not allow. It runs before the arguments are read, and the trail
// records the call as denied.
func (s *System) admit(c *workbench.Call) *candor.Error {
	if c.Tool == nil || s.o.Access.admits(c.Tool) {
		return nil
	}
	return candor.New(dualcode.ToolNotAdmitted, "", candor.WithOrigin(candor.PartyServer, false),
		candor.WithDetails(map[string]any{"tool": c.Name, "access": string(s.o.Access)}))
}

// locks serializes the calls of each tool. A call holds only the lock of its own tool, so that calls cannot deadlock.
// router_call holds its lock only while it reads the state of this server, so that a slow upstream does not delay calls
// to another.
type locks struct {
	wait  time.Duration
	tools map[string]chan struct{}
}

func newLocks(wait time.Duration) locks { return locks{wait, map[string]chan struct{}{}} }

// guard returns a function that holds the lock of a tool while it calls run.
func (l *locks) guard(tool string, run func(context.Context, *workbench.Call) (workbench.Reply, error)) func(context.Context, *workbench.Call) (workbench.Reply, error) {
	return func(ctx context.Context, c *workbench.Call) (reply workbench.Reply, err error) {
		err = l.part(ctx, tool, func() (err error) {
			reply, err = run(ctx, c)
			return err
		})
		return reply, err
	}
}

// part calls run with the lock of a tool, which is released when run returns or panics.
func (l *locks) part(ctx context.Context, tool string, run func() error) error {
	lock := l.tools[tool]
	if err := l.acquire(ctx, lock, tool); err != nil {
		return err
	}
	defer func() { <-lock }()
	return run()
}

func (l *locks) acquire(ctx context.Context, lock chan struct{}, tool string) error {
	timeout := time.NewTimer(l.wait)
	defer timeout.Stop()
	select {
	case lock <- struct{}{}:
		return nil
	case <-timeout.C:
		return candor.New(dualcode.ToolLockTimeout, "", candor.WithOrigin(candor.PartyServer, false),
			candor.WithDetails(map[string]any{"tool": tool, "waited_ms": l.wait.Milliseconds()}))
	case <-ctx.Done():
		return candor.From(ctx.Err())
	}
}
