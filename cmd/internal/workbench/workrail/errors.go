package workrail

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/run"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/session"
	workrailcode "github.com/candor-mcp/candor/codes/workrail"
)

// continueKind is the reason why a step could not be recorded. The set is closed: every kind has a case in
// [stepFailures], except those of the state machine.
type continueKind string

const (
	missingNodeOrRun     continueKind = "missing_node_or_run"
	workflowHashMismatch continueKind = "workflow_hash_mismatch"
	missingSnapshot      continueKind = "missing_snapshot"
	noPendingStep        continueKind = "no_pending_step"
	advanceApplyFailed   continueKind = "advance_apply_failed"
	advanceNextFailed    continueKind = "advance_next_failed"
	sessionStoreError    continueKind = "session_store_error"
	snapshotStoreError   continueKind = "snapshot_store_error"
)

// continueError is the error for a step that could not be recorded.
type continueError struct {
	kind continueKind
	err  error // may be nil
}

// Error names the kind.
func (e *continueError) Error() string {
	if e.err == nil {
		return string(e.kind)
	}
	return string(e.kind) + ": " + e.err.Error()
}

// Unwrap returns the cause.
func (e *continueError) Unwrap() error { return e.err }

// afterInternal is the advice after an unexpected error. A step is then recorded completely or not at all.
const afterInternal = "Report it with the reference. Then call resume_session for the current step; a step is recorded completely or not at all."

// failure returns the error of a tool: code, message, suggestion and details.
func failure(code candor.Code, message, suggestion string, details map[string]any, cause error) *candor.Error {
	o := []candor.Option{candor.WithDetails(details)}
	if suggestion == "" && code == workrailcode.InternalError {
		suggestion = afterInternal
	}
	if suggestion != "" {
		o = append(o, candor.WithSuggestion(suggestion))
	}
	if cause != nil {
		o = append(o, candor.WithCause(cause))
	}
	return candor.New(code, message, o...)
}

// restore is the advice if the workflow of a session is not stored any more.
const restore = "Ask the user to put back the workflow file with the same content: start_workflow then stores it again. Or start a new session with start_workflow."

// askUser is the advice if files cannot be read or written.
const askUser = "Tell the user: the log of the server has the cause. Then call resume_session for the current step."

// stepFailures has the errors that are sent for all kinds but those of the state machine. expected is set for codes of
// tokens.
var stepFailures = map[continueKind]struct {
	code                          candor.Code
	message, suggestion, expected string
}{
	missingNodeOrRun: {workrailcode.TokenUnknownNode, "No stored step belongs to this token.",
		"Call resume_session to list the sessions that there are, or start again with start_workflow.", "a token of a session and step that this server has"},
	workflowHashMismatch: {workrailcode.TokenWorkflowHashMismatch, "", restore, "the workflow as it was when the session was started"},
	missingSnapshot:      {workrailcode.PreconditionFailed, "The workflow that this session was started with is not stored any more.", restore, ""},
	noPendingStep: {workrailcode.PreconditionFailed, "No step is pending: the workflow is completed, or its session was cancelled.",
		"Call start_workflow if there is more to do, or rewind_session to do the last step of this session again or to open a cancelled session.", ""},
	sessionStoreError:  {workrailcode.InternalError, "The state of the workflow could not be stored or read.", askUser, ""},
	snapshotStoreError: {workrailcode.InternalError, "The state of the workflow could not be stored or read.", askUser, ""},
}

// public returns the error that is sent.
func (e *continueError) public() *candor.Error {
	details := map[string]any{"kind": string(e.kind)}
	f, ok := stepFailures[e.kind]
	if !ok {
		return publicRun(e.err, "continue with the same token", details)
	}
	if f.expected != "" {
		details["tokenErrorCode"], details["reason"], details["expected"] = f.code.Symbol(), string(e.kind), f.expected
	}
	if errors.Is(e.err, syscall.ENOSPC) {
		f.message = "The disk is full: the state of the workflow could not be stored."
		f.suggestion = "Tell the user that the disk with the state folder is full. Then call resume_session for the current step."
	}
	return failure(f.code, f.message, f.suggestion, details, e.err)
}

// publicRun returns the error to send for an error of the state machine. goOn is appended to the suggestion.
func publicRun(err error, goOn string, details map[string]any) *candor.Error {
	e, ok := errors.AsType[*run.Error](err)
	if !ok {
		return failure(workrailcode.InternalError, "", "", details, err)
	}
	details["error"] = string(e.Kind)
	if e.Step != "" {
		details["step"], details["path"] = e.Step, e.Path
	}
	switch e.Kind {
	case run.KindInvalidLoop:
		details["key"] = e.Key
		return failure(workrailcode.ValidationError, "The loop "+e.Path+" cannot run: "+e.Reason+".",
			"Set the context key in the details to what the loop needs and "+goOn+".", details, err)
	case run.KindMissingContext:
		details["keys"] = e.Keys
		return failure(workrailcode.PreconditionFailed, "The context lacks keys that the workflow needs: "+strings.Join(e.Keys, ", ")+".",
			"Set these keys in the argument context and "+goOn+"; inspect_workflow says what each is for.", details, err)
	case run.KindConditionEvalFailed:
		details["key"], details["expected"] = e.Eval.Key, e.Eval.Want
		return failure(workrailcode.ValidationError, "The condition of step "+e.Step+" cannot be decided: "+e.Eval.Error()+".",
			"Set the context key in the details to a value of the expected type and "+goOn+".", details, err)
	case run.KindMaxIterationsExceeded:
		details["maxIterations"] = e.Limit
		return failure(workrailcode.PreconditionFailed, fmt.Sprintf("The loop %s has reached its limit of %d iterations.", e.Path, e.Limit),
			"Set the context so that the loop ends, which inspect_workflow describes, and "+goOn+". If it cannot end, tell the user.", details, err)
	case run.KindNoPendingStep:
		return (&continueError{noPendingStep, err}).public()
	case run.KindInvalidPosition:
	}
	return failure(workrailcode.InternalError, "", "", details, err)
}

// lockedFor is the retry delay while another process holds a session. A step takes some milliseconds, so a second is
// enough.
const lockedFor = time.Second

// public returns the error to send for an error of a step or the session store.
func public(err error) *candor.Error {
	var unhealthy *session.UnhealthyError
	var step *continueError
	var already *candor.Error
	switch {
	case errors.As(err, &already):
		return already
	case errors.As(err, &step):
		return step.public()
	case errors.As(err, &unhealthy):
		return failure(workrailcode.SessionNotHealthy, "", "Stop using this session: export_session reads what is left, and start_workflow starts again.",
			map[string]any{"health": unhealthy.Health}, nil)
	case errors.Is(err, session.ErrLocked):
		details := map[string]any{"tokenErrorCode": workrailcode.TokenSessionLocked.Symbol(), "reason": "locked", "expected": "a session that no other process is changing"}
		return failure(workrailcode.TokenSessionLocked, "Another process is changing this session.", "", details, nil).With(candor.WithRetry(candor.RetryIn(lockedFor)))
	case errors.Is(err, session.ErrNotFound):
		return (&continueError{kind: missingNodeOrRun}).public()
	case errors.Is(err, session.ErrTooMany):
		return failure(workrailcode.PreconditionFailed, "There are too many sessions.", "Ask the user to remove old ones: each is a folder in sessions in the state folder.",
			map[string]any{"kind": "too_many_sessions"}, nil)
	case errors.Is(err, session.ErrTooLarge):
		return failure(workrailcode.PreconditionFailed, "The session has reached its limit of events or bytes.", "Start again with start_workflow.",
			map[string]any{"kind": "session_too_large"}, nil)
	case errors.Is(err, context.DeadlineExceeded):
		return failure(workrailcode.Timeout, "", "", nil, err)
	case errors.Is(err, context.Canceled):
		return candor.From(err)
	default:
		return (&continueError{sessionStoreError, err}).public()
	}
}
