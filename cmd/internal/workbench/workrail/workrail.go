package workrail

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/session"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/token"
	workrailcode "github.com/candor-mcp/candor/codes/workrail"
	"github.com/candor-mcp/candor/internal/schema"
)

// Domain is the domain of the error codes.
const Domain = "workrail"

// Options configures the system.
type Options struct {
	// State is the directory of sessions, snapshots and keys.
	State *workbench.State
	// Workflows is a directory of workflow files; "" for only the built-in ones.
	Workflows string
	// MaxSessions is the maximum number of sessions; 0 is 10,000.
	MaxSessions int
	// BlockedAttempts is how often a step may be blocked in a row before a further attempt is refused; 0 is 3.
	BlockedAttempts int
	// LockWait is the maximum wait for another process; 0 is 250 ms.
	LockWait time.Duration
	// Drill adds a tool that fails on request, to test how a client reacts.
	Drill bool
}

// System is the workflow server, to be run by [workbench.Open].
type System struct {
	o         Options
	library   library
	sessions  *session.Store[sessionState]
	snapshots snapshots
	keys      *token.Keyring
	schemas   schema.Cache
	folders   []*os.Root
}

// New returns the system. The caller must call [System.Close].
func New(o Options) (*System, error) {
	if o.BlockedAttempts <= 0 {
		o.BlockedAttempts = 3
	}
	s, err := open(o)
	if err != nil {
		return nil, err
	}
	if s.keys, err = token.Open(o.State.Root(), time.Now()); err != nil {
		return nil, errors.Join(fmt.Errorf("the keys of tokens: %w", err), s.Close())
	}
	return s, nil
}

// open opens the directories of the state, but not the token keys.
func open(o Options) (*System, error) {
	s := &System{o: o, library: library{o.Workflows}}
	sessions, err := s.folder("sessions")
	if err == nil {
		s.sessions = session.NewStore(sessions, session.Options{MaxSessions: o.MaxSessions, LockWait: o.LockWait}, fold)
		s.snapshots.root, err = s.folder("snapshots")
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// folder opens a directory of the state and creates it if it does not exist.
func (s *System) folder(name string) (*os.Root, error) {
	root, err := s.o.State.Folder(name)
	if err == nil {
		s.folders = append(s.folders, root)
	}
	return root, err
}

// Close closes the directories.
func (s *System) Close() error {
	var err error
	for _, f := range s.folders {
		err = errors.Join(err, f.Close())
	}
	return err
}

const instructions = `Workflows: procedures of several steps that you follow one at a time.
1. list_workflows shows them, start_workflow begins one and returns the first step with a continueToken.
2. Do the step. Then call continue_workflow with its continueToken, your notes, and the output and context that the step asks for. The answer holds the next step and a new token.
3. An answer of kind "blocked" is not an error: it lists what is missing. Nothing of the call was kept: call continue_workflow again with everything, what is missing included, and retryContinueToken.
4. After an interruption call resume_session, with the resumeToken if you have it, and go on from there.
Tokens are opaque: copy them exactly. Every error has a code, says whether to retry, and says what to do.`

// Describe returns the description of the system for the workbench.
func (s *System) Describe() workbench.System {
	return workbench.System{
		Name: "workrail", Title: "Durable workflows", Instructions: instructions, Dialect: "tool-error", Domain: Domain,
		Tools: s.tools(), Sessionless: true, Refine: refine, Close: s.Close,
	}
}

func (s *System) tools() []workbench.Tool {
	tools := []workbench.Tool{
		s.listWorkflows(), s.inspectWorkflow(), s.validateWorkflow(), s.startWorkflow(), s.continueWorkflow(), s.resumeSession(),
		s.sessionHealth(), s.exportSession(),
	}
	if s.o.Drill {
		tools = append(tools, s.drill())
	}
	for i := range tools {
		tools[i].Codes = append(tools[i].Codes, workrailcode.ValidationError, workrailcode.InternalError, workrailcode.Timeout)
	}
	return tools
}

// refine replaces the codes of boundary failures by codes of this system.
func refine(_ *workbench.Call, e *candor.Error) *candor.Error {
	switch e.Code() {
	case candor.CodeInvalidArguments:
		return workbench.Recode(e, workrailcode.ValidationError, e.Message())
	case candor.CodeInternalError:
		return workbench.Recode(e, workrailcode.InternalError, e.Message()).With(candor.WithSuggestion(afterInternal))
	case candor.CodeCallTimeout:
		return workbench.Recode(e, workrailcode.Timeout, e.Message())
	default:
		return nil
	}
}

func newSessionID() token.SessionID {
	var id token.SessionID
	_, _ = rand.Read(id[:]) // never fails
	return id
}

// abandonedAfter is far longer than it takes to create a session.
const abandonedAfter = time.Hour

// Start removes sessions whose creation was interrupted by a crash.
func (s *System) Start(_ context.Context, b *workbench.Bench) {
	if err := s.sessions.RemoveAbandoned(abandonedAfter); err != nil {
		b.Logger().Warn("removing sessions that were never finished", slog.Any("error", err))
	}
}
