package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// schemaVersion is the version that this program writes and reads.
const schemaVersion = 1

// Limits of every session.
const (
	maxEvents    = 100_000
	maxSegment   = 4 << 20 // the notes, output, context and next step of one call, with escapes
	maxManifest  = 64 << 20
	manifestName = "manifest.jsonl"
	eventsName   = "events"
	lockName     = "lock"
)

// Event is one event of a session.
type Event struct {
	Version int             `json:"v"`
	Index   uint64          `json:"index"` // from 1, without gaps
	Kind    string          `json:"kind"`
	At      time.Time       `json:"at"`
	Data    json.RawMessage `json:"data"`
}

// Record is an event to add.
type Record struct {
	Kind string
	Data any
}

// encodeEvents returns the segment with the records that follow event last, and the events in it.
func encodeEvents(records []Record, last uint64, now time.Time) ([]byte, []Event, error) {
	var b bytes.Buffer
	events := make([]Event, len(records))
	for i, r := range records {
		data, err := encodeJSON(r.Data)
		if err != nil {
			return nil, nil, fmt.Errorf("event %s: %w", r.Kind, err)
		}
		last++
		events[i] = Event{Version: schemaVersion, Index: last, Kind: r.Kind, At: now.UTC(), Data: bytes.TrimSuffix(data, []byte("\n"))}
		line, err := encodeJSON(events[i])
		if err != nil {
			return nil, nil, fmt.Errorf("event %s: %w", r.Kind, err)
		}
		b.Write(line)
	}
	if b.Len() > maxSegment {
		return nil, nil, fmt.Errorf("%w: %d bytes of events, at most %d fit", ErrTooLarge, b.Len(), maxSegment)
	}
	return b.Bytes(), events, nil
}

// encodeJSON returns a value on one line. It does not escape HTML characters, which would take six times the space.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// decodeEvents decodes a whole segment. The reason describes the first defect.
func decodeEvents(data []byte, first, last uint64) ([]Event, *Reason) {
	var events []Event
	next := first
	for line := range bytes.Lines(data) {
		if line[len(line)-1] != '\n' {
			return events, invalid("event %d is cut off", next)
		}
		var e Event
		if reason := decodeEvent(line, &e); reason != nil {
			return events, reason
		}
		if e.Index != next {
			return events, &Reason{NonContiguous, fmt.Sprintf("found event %d, want event %d", e.Index, next)}
		}
		events = append(events, e)
		next++
	}
	if next != last+1 {
		return events, &Reason{NonContiguous, fmt.Sprintf("the segment ends with event %d, not %d", next-1, last)}
	}
	return events, nil
}

// decodeEvent decodes one line. It checks the version first, because later versions may have other fields.
func decodeEvent(line []byte, e *Event) *Reason {
	if reason := knownVersion(line); reason != nil {
		return reason
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(e); err != nil {
		return invalid("an event is not valid: %s", JSONError(err))
	}
	if e.Index == 0 || e.Kind == "" || e.At.IsZero() || len(e.Data) == 0 {
		return invalid("an event lacks a member")
	}
	return nil
}

// JSONError returns an error of decoding JSON without the names of Go types.
func JSONError(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("the member %s cannot be a %s", wrong.Field, wrong.Value)
	}
	return err
}

// knownVersion returns a reason if a line has another version.
func knownVersion(line []byte) *Reason {
	var head struct {
		Version *int `json:"v"`
	}
	if json.Unmarshal(line, &head) == nil && head.Version != nil && *head.Version != schemaVersion {
		return &Reason{UnknownVersion, fmt.Sprintf("version %d is not supported, want %d", *head.Version, schemaVersion)}
	}
	return nil
}

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
func healthOf(reason *Reason, events int) Health {
	h := Health{Kind: Healthy, Reason: reason, Events: uint64(events)} //nolint:gosec // a length
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
