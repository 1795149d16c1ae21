// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package blockers has the codes of the domain blockers: why a workflow step cannot be finished yet. A blocked step is an answer, not an error, until a caller asks for it as one.
package blockers

import "github.com/candor-mcp/candor"

// The codes of the domain blockers.
const (
	// UserOnlyDependency is blockers/USER_ONLY_DEPENDENCY. The step waits for something only a person can provide.
	UserOnlyDependency candor.Code = 3400
	// MissingRequiredOutput is blockers/MISSING_REQUIRED_OUTPUT. The step requires an output that was not given.
	MissingRequiredOutput candor.Code = 3401
	// InvalidRequiredOutput is blockers/INVALID_REQUIRED_OUTPUT. The output does not meet the contract of the step.
	InvalidRequiredOutput candor.Code = 3402
	// MissingRequiredNotes is blockers/MISSING_REQUIRED_NOTES. The step requires notes that were not given.
	MissingRequiredNotes candor.Code = 3403
	// MissingContextKey is blockers/MISSING_CONTEXT_KEY. The context lacks a key that the step needs.
	MissingContextKey candor.Code = 3404
	// ContextBudgetExceeded is blockers/CONTEXT_BUDGET_EXCEEDED. The context is larger than the workflow allows.
	ContextBudgetExceeded candor.Code = 3405
	// RequiredCapabilityUnknown is blockers/REQUIRED_CAPABILITY_UNKNOWN. It is unknown whether a capability that the step needs is available.
	RequiredCapabilityUnknown candor.Code = 3406
	// RequiredCapabilityUnavailable is blockers/REQUIRED_CAPABILITY_UNAVAILABLE. A capability the step needs is not available here.
	RequiredCapabilityUnavailable candor.Code = 3407
	// InvariantViolation is blockers/INVARIANT_VIOLATION. The step would break a rule of the workflow engine.
	InvariantViolation candor.Code = 3408
	// StorageCorruptionDetected is blockers/STORAGE_CORRUPTION_DETECTED. The stored state of this step is damaged.
	StorageCorruptionDetected candor.Code = 3409
)
