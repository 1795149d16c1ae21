package ledger

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
)

// Kind says what an entry records. It is a closed set; only failures are counted as such.
type Kind string

// The kinds. Callers write the first seven; the ledger writes the rest itself.
const (
	KindFailure    Kind = "failure"    // an error that was sent, or suppressed
	KindSuccess    Kind = "success"    // a call that went well, where those are wanted
	KindEnter      Kind = "enter"      // a call began
	KindExit       Kind = "exit"       // a call ended
	KindReserve    Kind = "reserve"    // an effect is about to happen; see [Ledger.Reserve]
	KindComplete   Kind = "complete"   // a reserved effect has ended
	KindAttempt    Kind = "attempt"    // one of several tries
	KindCheckpoint Kind = "checkpoint" // the tree was signed
	KindRecovered  Kind = "recovered"  // what was found of a chain whose writer is gone
	KindSetting    Kind = "setting"    // how the ledger is set up, and what it could not record
)

// Valid reports whether k is one of the kinds.
func (k Kind) Valid() bool {
	switch k {
	case KindFailure, KindSuccess, KindEnter, KindExit, KindReserve, KindComplete, KindAttempt,
		KindCheckpoint, KindRecovered, KindSetting:
		return true
	default:
		return false
	}
}

// Outcome says how a call ended.
type Outcome string

// The outcomes.
const (
	OutcomeOK         Outcome = "ok"
	OutcomeError      Outcome = "error"
	OutcomeDenied     Outcome = "denied"
	OutcomeSuppressed Outcome = "suppressed" // failed, and nobody was told
	OutcomeSuspected  Outcome = "suspected"  // looks like a failure
	OutcomeUnknown    Outcome = "unknown"
)

// valid reports whether o is one of the outcomes.
func (o Outcome) valid() bool {
	switch o {
	case OutcomeOK, OutcomeError, OutcomeDenied, OutcomeSuppressed, OutcomeSuspected, OutcomeUnknown:
		return true
	default:
		return false
	}
}

// Bounds of what one entry holds, in bytes of UTF-8 as given. Longer text is cut on a rune border.
const (
	maxText  = 64 << 10           // upstream, envelope and cause
	maxLabel = candor.MaxCallInfo // every other text
)

// Entry is what a caller wants recorded. The ledger adds chain, number, time and hashes. An empty field is left out.
//
// All text is redacted and bounded on the way in; the caller's bytes are only read, and only until Append returns.
type Entry struct {
	Kind Kind
	Ref  string // correlation id of the error
	Call string // joins the entries of one call

	Tool   string
	Code   candor.Code // with it go domain, number and class
	Origin candor.Origin
	Retry  candor.Retry // written only where there is a code

	SessionID     string
	Role          string
	WorkspaceRoot string // a path; recorded as [candor.RootDigest]
	PlanHash      string
	PhaseID       string
	InvariantID   string

	Args     []byte // the arguments as received; recorded as a keyed digest and a length, never themselves
	Cause    string // what lay behind it, in full
	Outcome  Outcome
	Attempt  int // from 1; 0 is unknown
	Latency  time.Duration
	Upstream []byte // what the upstream said
	Envelope []byte // what was sent
	Data     candor.Details

	raw []byte // data of the ledger's own entries: a JSON object that needs no redaction
}

// EntryOf returns a failure entry with all that err says. The caller adds call, arguments, texts and times.
func EntryOf(err *candor.Error) Entry {
	context := err.CallInfo()
	e := Entry{
		Kind: KindFailure, Ref: err.Ref(), Tool: context.Tool, Code: err.Code(), Origin: err.Origin(), Retry: err.Retry(),
		SessionID: context.SessionID, Role: context.Role, WorkspaceRoot: context.WorkspaceRoot,
		PlanHash: context.PlanHash, PhaseID: context.PhaseID, InvariantID: context.InvariantID,
		Cause: err.Cause().Message, Outcome: OutcomeError,
	}
	if err != nil && !e.Code.Valid() {
		e.Code = candor.CodeUncodedError // as on the wire
	}
	if full := err.Unwrap(); full != nil {
		e.Cause = fmt.Sprint(full) // which survives a method that panics
	}
	return e
}

// Receipt names the durable place of an entry. It may be given to others: with it and the public key anybody can ask for a proof.
type Receipt struct {
	Chain string
	Seq   uint64
	Hash  string // in hex
	Time  time.Time
	// Unrecorded is set, and all else empty, if the ledger could not record and its policy is [Options.FailOpen].
	Unrecorded bool
}

// RecordFailure appends the entry of a failure. It implements [candor.Ledger].
func (l *Ledger) RecordFailure(ctx context.Context, f candor.Failure) error {
	_, err := l.Append(ctx, FailureEntry(f))
	return err
}

// FailureEntry returns the entry that [Ledger.RecordFailure] appends, for a caller that adds to it.
func FailureEntry(f candor.Failure) Entry {
	e := EntryOf(f.Error)
	e.Args, e.Upstream, e.Envelope = f.Arguments, f.Received, f.Sent
	e.Attempt, e.Latency = f.Attempt, f.Latency
	data := map[string]any{"method": f.Method, "verdict": f.Verdict}
	if f.Upstream != "" {
		data["upstream"] = f.Upstream
	} else if stack := f.Error.Stack(); stack != "" {
		data["stack"] = strings.Split(stack, "\n") // a single string would be cut sooner
	}
	e.Data = candor.DetailsOf(data)
	switch {
	case f.Retried:
		e.Kind = KindAttempt
	case f.Suspected:
		e.Outcome = OutcomeSuspected
	case f.Sent == nil:
		e.Outcome = OutcomeSuppressed
	}
	return e
}

// RecordSuccess appends the entry of a successful call. It implements [candor.SuccessLedger].
func (l *Ledger) RecordSuccess(ctx context.Context, s candor.Success) error {
	_, err := l.Append(ctx, Entry{
		Kind: KindSuccess, Tool: s.Tool, SessionID: s.SessionID, Args: s.Arguments, Outcome: OutcomeOK, Latency: s.Latency,
	})
	return err
}
