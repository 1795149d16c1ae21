// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package blockers has the codes of the domain blockers: why a workflow step cannot be finished yet. A blocked step is an answer, not an error, until a caller asks for it as one.
package blockers

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/codetable"
)

// The codes of the domain blockers.
var (
	// UserOnlyDependency is blockers/USER_ONLY_DEPENDENCY, number 3400. The step waits for something only a person can provide.
	UserOnlyDependency = candor.CodeAt(codetable.At(101))
	// MissingRequiredOutput is blockers/MISSING_REQUIRED_OUTPUT, number 3401. The step requires an output that was not given.
	MissingRequiredOutput = candor.CodeAt(codetable.At(102))
	// InvalidRequiredOutput is blockers/INVALID_REQUIRED_OUTPUT, number 3402. The output does not meet the contract of the step.
	InvalidRequiredOutput = candor.CodeAt(codetable.At(103))
	// MissingRequiredNotes is blockers/MISSING_REQUIRED_NOTES, number 3403. The step requires notes that were not given.
	MissingRequiredNotes = candor.CodeAt(codetable.At(104))
	// MissingContextKey is blockers/MISSING_CONTEXT_KEY, number 3404. The context lacks a key that the step needs.
	MissingContextKey = candor.CodeAt(codetable.At(105))
	// ContextBudgetExceeded is blockers/CONTEXT_BUDGET_EXCEEDED, number 3405. The context is larger than the workflow allows.
	ContextBudgetExceeded = candor.CodeAt(codetable.At(106))
	// RequiredCapabilityUnknown is blockers/REQUIRED_CAPABILITY_UNKNOWN, number 3406. It is not known whether a capability the step needs is there.
	RequiredCapabilityUnknown = candor.CodeAt(codetable.At(107))
	// RequiredCapabilityUnavailable is blockers/REQUIRED_CAPABILITY_UNAVAILABLE, number 3407. A capability the step needs is not available here.
	RequiredCapabilityUnavailable = candor.CodeAt(codetable.At(108))
	// InvariantViolation is blockers/INVARIANT_VIOLATION, number 3408. The step would break a rule of the workflow engine.
	InvariantViolation = candor.CodeAt(codetable.At(109))
	// StorageCorruptionDetected is blockers/STORAGE_CORRUPTION_DETECTED, number 3409. The stored state of this step is damaged.
	StorageCorruptionDetected = candor.CodeAt(codetable.At(110))
)
