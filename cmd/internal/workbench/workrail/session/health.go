package session

import "fmt"

// HealthKind classifies the damage of a session.
type HealthKind string

// The kinds of health.
const (
	Healthy        HealthKind = "healthy"
	CorruptTail    HealthKind = "corrupt_tail"    // the first events are sound, later ones are not
	CorruptHead    HealthKind = "corrupt_head"    // not even the first events are sound
	VersionUnknown HealthKind = "unknown_version" // a later version of the program wrote it
)

// ReasonCode classifies a defect.
type ReasonCode string

// The reasons.
const (
	DigestMismatch   ReasonCode = "digest_mismatch"
	MissingSegment   ReasonCode = "missing_attested_segment"
	NonContiguous    ReasonCode = "non_contiguous_indices"
	UnknownVersion   ReasonCode = "unknown_schema_version"
	SchemaValidation ReasonCode = "schema_validation_failed"
)

// Reason is why a session is not healthy. The message names only files below the session's directory.
type Reason struct {
	Code    ReasonCode `json:"code"`
	Message string     `json:"message"`
}

func invalid(format string, args ...any) *Reason {
	return &Reason{SchemaValidation, fmt.Sprintf(format, args...)}
}

// Health is the result of reading a whole session.
type Health struct {
	Kind   HealthKind `json:"kind"`
	Reason *Reason    `json:"reason,omitempty"`
	// Events is the number of sound events at the beginning.
	Events uint64 `json:"events"`
	// Unattested is the number of segments without a manifest line, left by a crash: 0 or 1.
	Unattested int `json:"unattested,omitempty"`
}

// healthOf classifies a reason by the number of sound events before it.
func healthOf(reason *Reason, events uint64) Health {
	h := Health{Kind: Healthy, Reason: reason, Events: events}
	switch {
	case reason == nil:
	case reason.Code == UnknownVersion:
		h.Kind = VersionUnknown
	case events == 0:
		h.Kind = CorruptHead
	default:
		h.Kind = CorruptTail
	}
	return h
}

// UnhealthyError is the error for changing a damaged session.
type UnhealthyError struct{ Health Health }

// Error returns the reason.
func (e *UnhealthyError) Error() string {
	return fmt.Sprintf("the session is not healthy (%s): %s", e.Health.Kind, e.Health.Reason.Message)
}
