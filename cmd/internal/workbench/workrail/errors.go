package workrail

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/run"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/session"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/token"
	workrailcode "github.com/candor-mcp/candor/codes/workrail"
)

// continueKind is the reason why a step could not be recorded. The set is closed: every kind has a case in
// [continueError.public].
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

// public returns the error that is sent.
func (e *continueError) public() *candor.Error {
	details := map[string]any{"kind": string(e.kind)}
	switch e.kind {
	case missingNodeOrRun:
		details["tokenErrorCode"] = workrailcode.TokenUnknownNode.Symbol()
		details["expected"] = "a token of a session and step that this server has"
		return failure(workrailcode.TokenUnknownNode, "No stored step belongs to this token.",
			"Call resume_session to list the sessions that there are, or begin anew with start_workflow.", details, e.err)
	case workflowHashMismatch:
		details["tokenErrorCode"] = workrailcode.TokenWorkflowHashMismatch.Symbol()
		details["expected"] = "the workflow as it was when the session was started"
		return failure(workrailcode.TokenWorkflowHashMismatch, "", "The stored copy of this session's workflow was replaced. Ask the user to run candor workbench workrail doctor --repair, which restores it from the workflow file if that is unchanged, or begin anew with start_workflow.", details, e.err)
	case missingSnapshot:
		return failure(workrailcode.PreconditionFailed, "The workflow that this session was started with is not stored any more.",
			"Ask the user to run candor workbench workrail doctor --repair, which restores it from the workflow file if that is unchanged, or begin anew with start_workflow.", details, e.err)
	case noPendingStep:
		return failure(workrailcode.PreconditionFailed, "The workflow is completed; no step is pending.", "Begin anew with start_workflow if there is more to do.", details, e.err)
	case advanceApplyFailed, advanceNextFailed:
		return publicRun(e.err, "continue with the same token", details)
	case sessionStoreError, snapshotStoreError:
		return failure(workrailcode.InternalError, "The state of the workflow could not be stored or read.",
			"Tell the user, who finds the cause with candor workbench workrail doctor. Then call resume_session for the current step.", details, e.err)
	}
	return failure(workrailcode.InternalError, "", "", details, e)
}

// publicRun returns the error to send for an error of the state machine. goOn is appended to the suggestion.
func publicRun(err error, goOn string, details map[string]any) *candor.Error {
	var e run.Error
	if !errors.As(err, &e) {
		return failure(workrailcode.InternalError, "", "", details, err)
	}
	details["error"] = string(e.Kind())
	switch e := e.(type) {
	case *run.InvalidLoop:
		details["step"], details["path"], details["key"] = e.Step, e.Path, e.Key
		return failure(workrailcode.ValidationError, "The loop "+e.Path+" cannot run: "+e.Reason+".",
			"Set the context key in the details to what the loop needs and "+goOn+".", details, err)
	case *run.MissingContext:
		details["keys"] = e.Keys
		if e.Step != "" {
			details["step"], details["path"] = e.Step, e.Path
		}
		return failure(workrailcode.PreconditionFailed, "The context lacks keys that the workflow needs: "+strings.Join(e.Keys, ", ")+".",
			"Send the call again with these keys in its argument context. inspect_workflow says what each is for.", details, err)
	case *run.ConditionEvalFailed:
		details["step"], details["path"], details["key"], details["expected"] = e.Step, e.Path, e.Err.Key, e.Err.Want
		return failure(workrailcode.ValidationError, "The condition of step "+e.Step+" cannot be decided: "+e.Err.Error()+".",
			"Set the context key in the details to a value of the expected type and "+goOn+".", details, err)
	case *run.MaxIterationsExceeded:
		details["step"], details["path"], details["maxIterations"] = e.Step, e.Path, e.Limit
		return failure(workrailcode.PreconditionFailed, fmt.Sprintf("The loop %s has reached its limit of %d iterations.", e.Path, e.Limit),
			"Set the context so that the loop ends, or tell the user that the workflow cannot continue.", details, err)
	case *run.InvalidPosition:
		return failure(workrailcode.InternalError, "", "", details, err)
	case *run.NoPendingStep:
		return (&continueError{noPendingStep, err}).public()
	default:
		return failure(workrailcode.InternalError, "", "", details, err)
	}
}

// publicToken returns the error to send for an error of a token.
func publicToken(err error) *candor.Error {
	var e *token.Error
	if !errors.As(err, &e) {
		return failure(workrailcode.InternalError, "", "", nil, err)
	}
	code := map[token.Problem]candor.Code{
		token.InvalidFormat:      workrailcode.TokenInvalidFormat,
		token.UnsupportedVersion: workrailcode.TokenUnsupportedVersion,
		token.BadSignature:       workrailcode.TokenBadSignature,
		token.ScopeMismatch:      workrailcode.TokenScopeMismatch,
	}[e.Problem]
	return failure(code, "", tokenAdvice[e.Problem], map[string]any{"tokenErrorCode": code.Symbol(), "reason": e.Reason, "expected": e.Expected}, nil)
}

// tokenAdvice suggests how to get a valid token. Only resume_session without arguments works without one.
var tokenAdvice = map[token.Problem]string{
	token.InvalidFormat:      "Copy the token exactly from the last answer. If it is lost, call resume_session without arguments, which lists the open sessions.",
	token.UnsupportedVersion: "Call resume_session without arguments: it lists the open sessions, with tokens of this server.",
	token.BadSignature:       "Copy the token exactly from the last answer. If it is old, call resume_session without arguments, which lists the open sessions.",
	token.ScopeMismatch:      "continue_workflow takes the continueToken or retryContinueToken of the last answer, all other tools take its resumeToken.",
}

// lockedFor is the retry delay while another process holds a session. A step takes some milliseconds, so a second is
// enough.
const lockedFor = time.Second

// publicStore returns the error to send for an error of the session store.
func publicStore(err error) *candor.Error {
	var unhealthy *session.UnhealthyError
	var locked *session.LockedError
	var step *continueError
	var already *candor.Error
	switch {
	case errors.As(err, &already):
		return already
	case errors.As(err, &step):
		return step.public()
	case errors.As(err, &unhealthy):
		return failure(workrailcode.SessionNotHealthy, "", "Stop using this session: export_session reads what is left, and start_workflow begins anew.",
			map[string]any{"health": unhealthy.Health}, nil)
	case errors.As(err, &locked):
		details := map[string]any{"tokenErrorCode": workrailcode.TokenSessionLocked.Symbol(), "expected": "a session that no other process is changing"}
		if locked.Owner.PID != 0 {
			details["owner"] = locked.Owner
		}
		return failure(workrailcode.TokenSessionLocked, "Another process is changing this session.", "", details, nil).With(candor.WithRetry(candor.RetryIn(lockedFor)))
	case errors.Is(err, session.ErrNotFound):
		return (&continueError{kind: missingNodeOrRun}).public()
	case errors.Is(err, session.ErrTooMany):
		return failure(workrailcode.PreconditionFailed, "There are too many sessions.", "Ask the user to remove old ones with candor workbench workrail gc.",
			map[string]any{"kind": "too_many_sessions"}, nil)
	case errors.Is(err, session.ErrTooLarge):
		return failure(workrailcode.PreconditionFailed, "The session has reached its limit of events or bytes.", "Begin anew with start_workflow.",
			map[string]any{"kind": "session_too_large"}, nil)
	case errors.Is(err, context.DeadlineExceeded):
		return failure(workrailcode.Timeout, "", "", nil, err)
	case errors.Is(err, context.Canceled):
		return candor.From(err)
	default:
		return (&continueError{sessionStoreError, err}).public()
	}
}
