// Package tail is the end of a failing call, for whoever answers it: the boundary inside a server, and the gateway in front of one.
//
// The rule is: record, count, then send. A failure that cannot be recorded is not sent. What leaves instead says so and no more: the
// call has been made, so nobody may be told that nothing was done, nor that the same call may be made again.
//
// The package knows no ledger and no meter, only what it needs of them, and it recovers from nothing: a ledger that may panic is
// the caller's to guard.
package tail

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor"
)

// Edge is a place where failures leave. It holds nothing of its own, so it may be made for each failure, and copied.
type Edge struct {
	By     candor.Party     // who says that a failure could not be recorded
	Meter  candor.Meter     // nil counts nothing
	Logger *slog.Logger     // is told of what could not be recorded; required, like what follows
	Now    func() time.Time // the time of an error that has none
	Ref    func() string    // the ref of an error that has none
}

// SuspectMeter is a [candor.Meter] that tells suspected failures apart. They are counted as suppressed, too.
type SuspectMeter interface{ CountSuspected() }

// Place is where a call was made.
type Place struct {
	Tool    string
	Session string
	// Sure sets the place right in an error that names another. Without it what the error's author said stays.
	Sure bool
}

// Failure is a failed call before it is answered.
type Failure struct {
	Error   *candor.Error // stamped
	Verdict string
	Place   Place
	Attempt bool         // another attempt follows: it is recorded, and only the last is counted
	Silent  bool         // nobody may be told
	Suspect bool         // it looks like a failure, and was passed on as it is
	Left    *atomic.Bool // set when the client leaves, be it while the failure is recorded; nil if that cannot be known
}

// Stamp gives an error what only the edge knows: a ref and a time if it has none, and its place.
func (d Edge) Stamp(e *candor.Error, p Place) *candor.Error {
	var options [4]candor.Option // no slice that grows: every failure passes here
	n := 0
	set := func(o candor.Option) { options[n] = o; n++ }
	if e.Ref() == "" {
		set(candor.WithRef(d.Ref()))
	}
	if e.Time().IsZero() {
		set(candor.WithTime(d.Now()))
	}
	at := e.CallInfo()
	if p.mends(at.Tool, p.Tool) {
		set(candor.WithTool(p.Tool))
	}
	if p.mends(at.SessionID, p.Session) {
		set(candor.WithSession(p.Session, at.Role, at.WorkspaceRoot))
	}
	return e.With(options[:n]...)
}

// mends reports that what is known must replace what the error says.
func (p Place) mends(said, known string) bool {
	return said != known && (p.Sure || said == "")
}

// Settle records a failure, then counts it. It returns nil if the failure may be sent, and otherwise the error to send in its place,
// which was counted and logged. Record is not cancelled with ctx, because the caller may be gone and the failure is recorded all the
// same; nil stands for no ledger.
func (d Edge) Settle(ctx context.Context, f Failure, record func(context.Context) error) *candor.Error {
	if record != nil {
		if err := record(context.WithoutCancel(ctx)); err != nil {
			return d.unrecorded(ctx, f, err)
		}
	}
	if d.Meter == nil || f.Attempt {
		return nil
	}
	d.Meter.Count(f.Error, f.Verdict)
	if f.Silent || f.Left != nil && f.Left.Load() {
		d.Meter.CountSuppressed()
	}
	if suspects, ok := d.Meter.(SuspectMeter); ok && f.Suspect {
		suspects.CountSuspected()
	}
	return nil
}
