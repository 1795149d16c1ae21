package workrail

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/run"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/session"
	workrailcode "github.com/candor-mcp/candor/codes/workrail"
)

// TestEveryKindOfFailureHasItsError checks the code of each kind, alone and joined with other errors.
func TestEveryKindOfFailureHasItsError(t *testing.T) {
	t.Parallel()
	for kind, want := range map[continueKind]candor.Code{
		missingNodeOrRun: workrailcode.TokenUnknownNode, workflowHashMismatch: workrailcode.TokenWorkflowHashMismatch,
		missingSnapshot: workrailcode.PreconditionFailed, noPendingStep: workrailcode.PreconditionFailed,
		advanceApplyFailed: workrailcode.ValidationError, advanceNextFailed: workrailcode.ValidationError,
		sessionStoreError: workrailcode.InternalError, snapshotStoreError: workrailcode.InternalError,
	} {
		e := public(errors.Join(&continueError{kind, &run.Error{Kind: run.KindInvalidLoop, Path: "p", Key: "k", Reason: "r"}}))
		if e.Code() != want || e.Suggestion() == "" || e.Details().Get("kind").String() != strconv.Quote(string(kind)) {
			t.Errorf("%s: %s, %q, %s", kind, e.Code(), e.Suggestion(), e.Details())
		}
	}
}

// TestEveryStoreErrorHasItsCode checks the codes for the errors of the session store.
func TestEveryStoreErrorHasItsCode(t *testing.T) {
	t.Parallel()
	for want, err := range map[candor.Code]error{
		workrailcode.SessionNotHealthy:  &session.UnhealthyError{Health: session.Health{Kind: session.CorruptTail, Reason: &session.Reason{}}},
		workrailcode.TokenSessionLocked: session.ErrLocked,
		workrailcode.TokenUnknownNode:   session.ErrNotFound,
		workrailcode.InternalError:      errors.New("the disk is gone"),
	} {
		if got := public(err).Code(); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
	for kind, err := range map[string]error{"too_many_sessions": session.ErrTooMany, "session_too_large": session.ErrTooLarge} {
		e := public(err)
		if got := e.Details().Get("kind").String(); e.Code() != workrailcode.PreconditionFailed || got != strconv.Quote(kind) {
			t.Errorf("%v: %s %s", err, e.Code(), e.Details())
		}
	}
}

// TestW16AReportOverBudgetFails checks that such a report, which is a bug in the server, is an error and not truncated.
func TestW16AReportOverBudgetFails(t *testing.T) {
	t.Parallel()
	for name, all := range map[string][]blocker{
		"too many": make([]blocker, maxBlockers+1), "message": {{Message: strings.Repeat("m", maxMessageBytes+1)}},
		"fix": {{SuggestedFix: strings.Repeat("f", maxFixBytes+1)}},
	} {
		_, err := new(System).block(&sessionState{next: &stepView{}}, &attempt{}, all)
		if e := public(err); e.Code() != workrailcode.InternalError || e.Details().Get("kind").String() != `"blocker_report_over_budget"` {
			t.Errorf("%s: %v", name, err)
		}
	}
}
