// Package workrail is a server that guides an agent through a workflow, one step at a time, and records its progress.
//
// A workflow is a file: ordered steps, loops with limits, conditions, and the inputs and outputs of each step. An agent
// starts a workflow and gets the first step with a token. When it has done the step it sends the token back with its
// notes, and gets the next. Progress is durable: an agent that was interrupted by a crash, a compaction or a new
// conversation resumes at the same step.
//
// # Promises
//
//   - A step is recorded once, before its answer is sent. A token that is sent again returns the recorded answer, which
//     says if the content differs.
//   - An incomplete step is blocked, which is not a failure: the answer lists the missing items and has a new token.
//   - Every failure has one of 13 codes, retry advice, and a suggestion.
//   - A session is pinned to its workflow as of the start. A damaged session is reported, and its readable events can be
//     exported.
package workrail

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/session"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/token"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
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
	// AnswerFlags says which flags of the server the command of a person needs too: ", with the --state of this server", or "".
	AnswerFlags string
	// Drill adds a tool that fails on request, to test how a client reacts.
	Drill bool
}

// System is the workflow server, to be run by [workbench.Open].
type System struct {
	o         Options
	sessions  *session.Store[sessionState]
	snapshots *os.Root
	key       *token.Key
	schemas   schema.Cache
	parsing   chan struct{}        // holds a value while files are parsed, and guards parsed
	parsed    map[parsedKey]listed // the workflow files as of the last call, by name and digest
	folders   []*os.Root
}

// New returns the system. The caller must call [System.Close].
func New(o Options) (*System, error) {
	s := &System{o: o, parsing: make(chan struct{}, 1)}
	sessions, err := s.folder("sessions")
	if err == nil {
		s.sessions = session.NewStore(sessions, fold)
		s.snapshots, err = s.folder("snapshots")
	}
	if err == nil {
		if s.key, err = token.Open(o.State.Root()); err != nil {
			err = fmt.Errorf("the key of tokens: %w", err)
		}
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
   Only the user can answer a question of a step: the client asks, or the answer names a command for the user.
4. After an interruption call resume_session, with the resumeToken if you have it, and continue from there.
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
		s.sessionHealth(), s.exportSession(), s.rewindSession(), s.cancelSession(),
	}
	if s.o.Drill {
		tools = append(tools, s.drill())
	}
	for i := range tools {
		tools[i].Codes = append(tools[i].Codes, workrailcode.ValidationError, workrailcode.InternalError, workrailcode.Timeout,
			candor.CodeLedgerFailed, candor.CodeLedgerLocked, kaizacode.SelfAuditFailure)
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

// Start does nothing: a session has its name once it is complete.
func (s *System) Start(context.Context, *workbench.Bench) {}

// drills are the ways in which the drill tool can fail. They are handled like any other failure.
var drills = map[string]func(s *System, ctx context.Context) error{
	"panic": func(*System, context.Context) error { panic(errors.New("the drill panicked")) }, //nolint:forbidigo // on purpose
	"error": func(*System, context.Context) error { return errors.New("the drill returned an error") },
	"timeout": func(s *System, ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 0)
		defer cancel()
		_, err := s.workflow(ctx, "bug-hunt")
		return err
	},
	"unsendable": func(*System, context.Context) error {
		loop := map[string]any{"nan": math.NaN(), "channel": make(chan int)}
		loop["self"] = loop
		return failure(workrailcode.PreconditionFailed, "", "", loop, nil)
	},
	"huge": func(*System, context.Context) error {
		huge := strings.Repeat("huge … ", 1<<17)
		return failure(workrailcode.PreconditionFailed, huge, huge, map[string]any{"huge": huge, "…": huge}, errors.New(huge))
	},
}

func (s *System) drill() workbench.Tool {
	kinds := map[string]func(context.Context) error{}
	for name, fail := range drills {
		kinds[name] = func(ctx context.Context) error { return fail(s, ctx) }
	}
	return workbench.Drill(kinds, workrailcode.PreconditionFailed)
}
