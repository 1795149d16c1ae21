package dual

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/router"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/store"
	dualcode "github.com/candor-mcp/candor/codes/dual"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// Domain is the domain of the error codes.
const Domain = "dual"

// ToolCount is the number of tools. The server checks it when it starts.
const ToolCount = 27

// Options configures the system.
type Options struct {
	State *workbench.State
	// Access limits the tools; "" is [AccessFull].
	Access Access
	// Skills is a directory of manifests; "" for only the built-in ones.
	Skills string
	// Upstreams are the servers that the router chooses from.
	Upstreams []router.Upstream
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
	o      Options
	store  *store.Store
	locks  locks
	router *router.Router
	skills fs.FS // nil without a directory
	folder *os.Root
	begun  time.Time
	now    func() time.Time

	opening sync.Mutex
	opened  bool // the ledger has an entry that the database is used with it
}

const defaultLockWait = 5 * time.Second

// New opens the database and returns the system. The caller must call [System.Close].
func New(ctx context.Context, o Options) (*System, error) {
	if o.Access == "" {
		o.Access = AccessFull
	}
	if !o.Access.Valid() {
		return nil, fmt.Errorf("access %q: want one of %v", o.Access, Accesses())
	}
	if o.LockWait <= 0 {
		o.LockWait = defaultLockWait
	}
	s := &System{o: o, begun: time.Now(), now: time.Now}
	if o.Skills != "" {
		folder, err := os.OpenRoot(o.Skills)
		if err != nil {
			return nil, fmt.Errorf("the folder of skills: %w", err)
		}
		s.folder, s.skills = folder, folder.FS()
	}
	var err error
	if s.store, err = store.Open(ctx, o.State.Dir(), o.Database); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.router = router.New(o.Upstreams, s.measure)
	s.locks = newLocks(o.LockWait)
	return s, nil
}

// Close closes the database and the connections to upstreams.
func (s *System) Close() error {
	var err error
	if s.router != nil {
		err = s.router.Close()
	}
	if s.store != nil {
		err = errors.Join(err, s.store.Close())
	}
	if s.folder != nil {
		err = errors.Join(err, s.folder.Close())
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
			{ID: "INV_STARTUP_TOOL_COUNT", About: fmt.Sprintf("The server has %d tools, each with a pattern.", ToolCount), Check: s.countTools},
			{ID: "INV_STARTUP_DATABASE_ATTESTED", About: "The database is the one that the trail attests.", Check: s.databaseAttested},
			{ID: "INV_STARTUP_DATABASE_READABLE", About: "The database can be read.", Check: s.databaseReadable},
		},
	}
}

func (s *System) countTools(context.Context, *workbench.Bench) error {
	count := 0
	for _, t := range s.tools() {
		if t.Name == drillName {
			continue
		}
		if _, ok := patterns[t.Name]; !ok {
			return fmt.Errorf("%s has no pattern", t.Name)
		}
		count++
	}
	if count != ToolCount || len(patterns) != ToolCount {
		return fmt.Errorf("%d tools and %d patterns, want %d", count, len(patterns), ToolCount)
	}
	return nil
}

func (s *System) databaseReadable(ctx context.Context, _ *workbench.Bench) error {
	return s.store.View(ctx, func(tx *store.Tx) error {
		_, err := tx.Tables()
		return err
	})
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
		t.Codes = append(t.Codes, dualcode.InvalidParams, dualcode.HandlerError, dualcode.ToolNotAdmitted, dualcode.ToolLockTimeout,
			kaiza.SelfAuditFailure, candor.CodeLedgerFailed)
		if t.Name == routerCallName {
			s.locks.of(t.Name) // it acquires its lock itself
			continue
		}
		t.Run = s.locks.guard(t.Name, t.Run)
	}
	return tools
}
