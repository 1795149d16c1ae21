package candor

import (
	"context"
	"time"
)

// Ledger records failures before they are sent. *ledger.Ledger implements it.
//
// RecordFailure returns nil only if the record is durable. It must be safe for concurrent use, and must not keep the slices of f.
type Ledger interface {
	RecordFailure(ctx context.Context, f Failure) error
}

// SuccessLedger is a [Ledger] that also records successful calls.
type SuccessLedger interface {
	RecordSuccess(ctx context.Context, s Success) error
}

// Failure describes a failed call for a [Ledger].
type Failure struct {
	Error     *Error
	Verdict   string        // why it is a failure, as package contract names it
	Method    string        // the JSON-RPC method
	Upstream  string        // the name of the server behind a gateway; "" elsewhere
	Arguments []byte        // recorded as a digest only
	Received  []byte        // the message of the server behind a gateway
	Sent      []byte        // the envelope that is sent; nil if no response is sent
	Attempt   int           // counted from 1; 0 if calls are not repeated
	Latency   time.Duration // since the call was forwarded
	Retried   bool          // another attempt follows
	Suspected bool          // the response looks like a failure and is sent unchanged
	Rule      string        // the rule of package contract behind a suspicion; "" for other failures
	Source    string        // the kind of content that the suspected tool returns, as package contract names it
}

// Success describes a successful call for a [SuccessLedger].
type Success struct {
	Tool      string
	SessionID string
	Arguments []byte // recorded as a digest only
	Latency   time.Duration
}

// Meter counts failures. *meter.Meter implements it. Its methods must be fast and safe for concurrent use.
type Meter interface {
	// Count counts a failure that was recorded.
	Count(err *Error, verdict string)
	// CountSuppressed counts a failure that was counted but not sent, because the protocol allows no response.
	CountSuppressed()
	// CountUnrecorded counts a failure that could not be recorded. It is not part of the total.
	CountUnrecorded(err *Error)
}
