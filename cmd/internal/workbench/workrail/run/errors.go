package run

import (
	"fmt"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
)

// Error is an error of this package. The set is closed: [*InvalidLoop], [*MissingContext], [*ConditionEvalFailed],
// [*MaxIterationsExceeded], [*InvalidPosition] and [*NoPendingStep]. Every error that a function of this package returns is
// one of them. After all but the last two, the caller may change the context and try again from the same position.
type Error interface {
	error
	Kind() Kind
}

// Kind names the type of an [Error], so that a switch over it can be checked for completeness.
type Kind string

// The kinds of errors.
const (
	KindInvalidLoop           Kind = "invalid_loop"
	KindMissingContext        Kind = "missing_context"
	KindConditionEvalFailed   Kind = "condition_eval_failed"
	KindMaxIterationsExceeded Kind = "max_iterations_exceeded"
	KindInvalidPosition       Kind = "invalid_position"
	KindNoPendingStep         Kind = "no_pending_step"
)

// InvalidLoop is the error for a loop that cannot run with this context: the value that it repeats over is not a list
// or not a number, or the list has changed since the loop was entered.
type InvalidLoop struct {
	Step   string // ID of the step that has the loop
	Path   string // such as "units[2].files"
	Key    string // the context key; "" if the loop itself is wrong
	Reason string // such as "want a list, got a string"
}

// MissingContext is the error for a context without required keys: at the start of the run if Step is empty, else to
// enter a loop.
type MissingContext struct {
	Step string
	Path string
	Keys []string // in the order of the workflow
}

// ConditionEvalFailed is the error for a condition that cannot be evaluated with this context.
type ConditionEvalFailed struct {
	Step string // the step whose condition it is
	Path string
	Err  *workflow.EvalError // names the key and what it must be
}

// MaxIterationsExceeded is the error for a loop that has reached its limit and would continue.
type MaxIterationsExceeded struct {
	Step   string
	Path   string
	Limit  int
	Wanted int // iterations that the list or number requires; 0 if a condition decides
}

// InvalidPosition is the error for a position that does not belong to the workflow.
type InvalidPosition struct {
	Reason string
}

// NoPendingStep is the error for advancing a run that is completed.
type NoPendingStep struct{}

func (e *InvalidLoop) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("loop %s: %s", e.Path, e.Reason)
	}
	return fmt.Sprintf("loop %s: context key %q: %s", e.Path, e.Key, e.Reason)
}

func (e *MissingContext) Error() string {
	keys := strings.Join(e.Keys, ", ")
	if e.Step == "" {
		return "starting the run: missing context keys: " + keys
	}
	return fmt.Sprintf("loop %s: missing context keys: %s", e.Path, keys)
}

func (e *ConditionEvalFailed) Error() string {
	return fmt.Sprintf("condition of %s: %v", e.Path, e.Err)
}

// Unwrap returns Err.
func (e *ConditionEvalFailed) Unwrap() error { return e.Err }

func (e *MaxIterationsExceeded) Error() string {
	if e.Wanted > 0 {
		return fmt.Sprintf("loop %s: %d iterations, limit %d", e.Path, e.Wanted, e.Limit)
	}
	return fmt.Sprintf("loop %s: limit of %d iterations reached", e.Path, e.Limit)
}

func (e *InvalidPosition) Error() string { return "position does not fit the workflow: " + e.Reason }
func (*NoPendingStep) Error() string     { return "the run is completed: no pending step" }

// Kind returns [KindInvalidLoop].
func (*InvalidLoop) Kind() Kind { return KindInvalidLoop }

// Kind returns [KindMissingContext].
func (*MissingContext) Kind() Kind { return KindMissingContext }

// Kind returns [KindConditionEvalFailed].
func (*ConditionEvalFailed) Kind() Kind { return KindConditionEvalFailed }

// Kind returns [KindMaxIterationsExceeded].
func (*MaxIterationsExceeded) Kind() Kind { return KindMaxIterationsExceeded }

// Kind returns [KindInvalidPosition].
func (*InvalidPosition) Kind() Kind { return KindInvalidPosition }

// Kind returns [KindNoPendingStep].
func (*NoPendingStep) Kind() Kind { return KindNoPendingStep }
