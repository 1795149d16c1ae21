// Package tasks has the rules of tasks: their statuses, the allowed changes between them, and the validity of a task.
// It does no I/O.
package tasks

import (
	"fmt"
	"slices"
)

// Status is the status of a task.
type Status string

// The statuses. A task is created in Init and ends in Done or Cancelled.
const (
	Init      Status = "INIT"
	Gather    Status = "GATHER"
	Analyze   Status = "ANALYZE"
	Plan      Status = "PLAN"
	Apply     Status = "APPLY"
	Verify    Status = "VERIFY"
	Done      Status = "DONE"
	Cancelled Status = "CANCELLED"
)

// Statuses returns all statuses, in the order in which a task has them. The caller owns the slice.
func Statuses() []Status {
	return []Status{Init, Gather, Analyze, Plan, Apply, Verify, Done, Cancelled}
}

// next maps each status to the one after it.
var next = map[Status]Status{Init: Gather, Gather: Analyze, Analyze: Plan, Plan: Apply, Apply: Verify, Verify: Done}

// Valid reports whether s is one of the statuses.
func (s Status) Valid() bool { return slices.Contains(Statuses(), s) }

// Terminal reports whether a task can never leave s.
func (s Status) Terminal() bool { return s == Done || s == Cancelled }

// Allowed returns the statuses that a task in s may change to: the next one, and Cancelled while it has not ended.
// It is empty, not nil, for a task that has ended.
func (s Status) Allowed() []Status {
	forward, ok := next[s]
	if !ok {
		return []Status{}
	}
	return []Status{forward, Cancelled}
}

// TransitionError is the error for a change of status that the state machine does not allow.
type TransitionError struct {
	From, To Status
	Allowed  []Status
}

// Error names the change.
func (e *TransitionError) Error() string {
	return fmt.Sprintf("a task in %s cannot change to %s", e.From, e.To)
}

// CheckTransition returns a *TransitionError if a task must not change from one status to the other.
func CheckTransition(from, to Status) error {
	allowed := from.Allowed()
	if slices.Contains(allowed, to) {
		return nil
	}
	return &TransitionError{From: from, To: to, Allowed: allowed}
}
