package ledger

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/limits"
)

// Kind is the kind of an entry. The kinds are a closed set; only entries of KindFailure count as failures.
type Kind string

// The kinds of entries. Callers write the first seven; the ledger writes the others.
const (
	KindFailure    Kind = "failure"    // an error that was sent or suppressed
	KindSuccess    Kind = "success"    // a call that succeeded, if successes are recorded
	KindEnter      Kind = "enter"      // a call began
	KindExit       Kind = "exit"       // a call ended
	KindReserve    Kind = "reserve"    // an effect is about to happen; see [Ledger.Reserve]
	KindComplete   Kind = "complete"   // a reserved effect has ended
	KindAttempt    Kind = "attempt"    // one of several attempts of a call
	KindCheckpoint Kind = "checkpoint" // the tree was signed
	KindRecovered  Kind = "recovered"  // the state of a chain after its writer exited
	KindSetting    Kind = "setting"    // the ledger's configuration, and entries that it could not record
)

// Valid reports whether k is one of the kinds.
func (k Kind) Valid() bool { return slices.Contains(kinds[:], k) }

var kinds = [...]Kind{
	KindFailure, KindSuccess, KindEnter, KindExit, KindReserve, KindComplete, KindAttempt, KindCheckpoint, KindRecovered, KindSetting,
}

// Outcome is how a call ended.
type Outcome string

// The outcomes of a call.
const (
	OutcomeOK         Outcome = "ok"
	OutcomeError      Outcome = "error"
	OutcomeDenied     Outcome = "denied"
	OutcomeSuppressed Outcome = "suppressed" // failed, but no error was sent
	OutcomeSuspected  Outcome = "suspected"  // looks like a failure, but was reported as a success
	OutcomeUnknown    Outcome = "unknown"
)

// valid reports whether o is one of the outcomes.
func (o Outcome) valid() bool {
	return slices.Contains([]Outcome{OutcomeOK, OutcomeError, OutcomeDenied, OutcomeSuppressed, OutcomeSuspected, OutcomeUnknown}, o)
}

// Limits on the texts of one entry, in bytes of UTF-8. Longer text is cut between runes.
const (
	maxText  = 64 << 10        // upstream, envelope and cause
	maxLabel = limits.CallInfo // every other text
)

// Entry is an entry to append. The ledger adds chain, number, time and hashes, and omits empty fields.
//
// All text is redacted and limited in length. The ledger only reads the caller's byte slices, and not after Append
// has returned.
type Entry struct {
	Kind Kind
	Ref  string // correlation id of the error
	Call string // shared by the entries of one call

	Tool   string
	Code   candor.Code // also determines domain, number and class
	Origin candor.Origin
	Retry  candor.Retry // written only if Code is set

	SessionID     string
	Role          string
	WorkspaceRoot string // a path; recorded as a digest
	PlanHash      string
	PhaseID       string
	InvariantID   string

	Args     []byte // the arguments as received; recorded only as a keyed digest and a length
	Cause    string // the full text of the underlying error
	Outcome  Outcome
	Attempt  int // from 1; 0 if unknown
	Latency  time.Duration
	Upstream []byte // the message received from the upstream
	Envelope []byte // the envelope that was sent
	Data     candor.Details

	redacted bool   // Upstream and Envelope are without secrets; see [candor.Failure]
	raw      []byte // data of the entries that the ledger writes itself: a JSON object that needs no redaction
}

// EntryOf returns a failure entry with the information in err. The caller adds Call, Args, Upstream, Envelope,
// Attempt and Latency.
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
		e.Cause = fmt.Sprint(full) // fmt recovers if the Error method panics
	}
	return e
}

// Receipt identifies a durable entry. With a receipt and the public key, any reader of the ledger can make and check
// a proof of the entry.
type Receipt struct {
	Chain string
	Seq   uint64
	Hash  string // in hex
	Time  time.Time
}

// RecordFailure appends the entry of a failure. It implements [candor.Ledger].
func (l *Ledger) RecordFailure(ctx context.Context, f candor.Failure) error {
	_, err := l.Append(ctx, FailureEntry(f))
	return err
}

// FailureEntry returns the entry that [Ledger.RecordFailure] appends, for callers that add to it.
func FailureEntry(f candor.Failure) Entry {
	e := EntryOf(f.Error)
	e.Args, e.Upstream, e.Envelope, e.redacted = f.Arguments, f.Received, f.Sent, f.Redacted
	e.Attempt, e.Latency = f.Attempt, f.Latency
	data := map[string]any{"method": f.Method, "verdict": f.Verdict}
	if f.Upstream != "" {
		data["upstream"] = f.Upstream
	}
	if stack := f.Error.Stack(); stack != "" && f.Received == nil { // not the stack that a gateway's server sent
		data["stack"] = strings.Split(stack, "\n") // a single string would be cut earlier
	}
	for name, text := range map[string]string{"rule": f.Rule, "source": f.Source, "client": f.Client, "upstream_ref": upstreamRef(f.Error)} {
		if text != "" {
			data[name] = text
		}
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

// upstreamRef returns the ref that the server behind a gateway gave to an error, or "".
func upstreamRef(e *candor.Error) (ref string) {
	if d := e.Details(); strings.Contains(d.String(), `"upstream"`) { // most errors have none, and decoding takes longer
		_ = d.Get("upstream").Get("ref").Decode(&ref) // "" if it is not a text
	}
	return ref
}

// RecordSuccess appends the entry of a successful call. It implements [candor.SuccessLedger].
func (l *Ledger) RecordSuccess(ctx context.Context, s candor.Success) error {
	_, err := l.Append(ctx, Entry{
		Kind: KindSuccess, Tool: s.Tool, SessionID: s.SessionID, Args: s.Arguments, Outcome: OutcomeOK, Latency: s.Latency,
	})
	return err
}
