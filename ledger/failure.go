package ledger

import (
	"context"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
)

// RecordFailure appends the entry of a failure that is about to be sent: what err says, what judged it and by which method it
// came, a digest of the arguments, and the envelope, nil if the protocol forbids an answer. It is the form in which boundary and gateway know a ledger.
func (l *Ledger) RecordFailure(ctx context.Context, err *candor.Error, verdict, method string, args, envelope []byte) error {
	_, refused := l.Append(ctx, SentEntry(err, verdict, method, args, envelope))
	return refused
}

// SentEntry is the entry that [Ledger.RecordFailure] appends, for a caller that has more to say in it.
func SentEntry(err *candor.Error, verdict, method string, args, envelope []byte) Entry {
	e := EntryOf(err)
	e.Args, e.Envelope = args, envelope
	data := map[string]any{"method": method, "verdict": verdict}
	if stack := err.Stack(); stack != "" {
		data["stack"] = strings.Split(stack, "\n") // one text would be cut sooner
	}
	e.Data = candor.DetailsOf(data)
	switch {
	case envelope != nil:
	case verdict == "masked": // it left as a success
		e.Outcome = OutcomeSuspected
	default: // there was no answer
		e.Outcome = OutcomeSuppressed
	}
	return e
}

// RecordSuccess appends the entry of a call that went well.
func (l *Ledger) RecordSuccess(ctx context.Context, tool, session string, args []byte, latency time.Duration) error {
	_, refused := l.Append(ctx, Entry{
		Kind: KindSuccess, Tool: tool, SessionID: session, Args: args, Outcome: OutcomeOK, Latency: latency,
	})
	return refused
}
