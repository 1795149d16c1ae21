package workbench

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/ledger"
)

// Call is one tools/call on its way through a system.
type Call struct {
	Name      string // as it was called
	Tool      *Tool  // nil if there is none of that name
	ID        string // joins its entries in the trail
	Session   *Session
	Stray     bool // it names a session, and that is none, or not the one of its connection
	Arguments json.RawMessage

	bench   *Bench
	held    *Session // that is kept in memory for it
	place   string   // the connection it came by, "" if it has none
	began   time.Time
	entered error         // why it could not be entered in the trail
	gated   bool          // the system's gate was asked
	refused *candor.Error // why the gate refused it
	ran     bool          // its tool was reached
	told    bool          // the system was told that it failed
	failure *candor.Error // as it leaves
	hidden  candor.Cause  // of the failure, for the trail only
	open    int           // effects that were reserved and have not ended
	stands  bool          // the trail says that its effect happened
	revert  func() error  // takes back what it did, where that has no entry of its own
}

type callKey struct{}

func callOf(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}

// newID returns a name that nobody can guess.
func newID() string {
	var random [12]byte
	_, _ = rand.Read(random[:]) // never fails, see crypto/rand
	return hex.EncodeToString(random[:])
}

// Bench returns where the call is handled.
func (c *Call) Bench() *Bench { return c.bench }

// Begun makes s the session of this call and of those that follow on its connection. It is not bound if there is no connection that
// lasts: then the caller has to name the session in each call. It is late if the connection has a session, which may have begun at the
// same time: then that one stands, and s is nobody's.
func (c *Call) Begun(s *Session) (bound, late bool) {
	if bound, late = c.bench.sessions.bind(c.place, s); !late {
		c.Session = s
	}
	return bound, late
}

// Unbegun takes back what [Call.Begun] did, and discards the session.
func (c *Call) Unbegun(s *Session) error {
	c.bench.sessions.unbind(c.place, s)
	c.Session = nil
	return c.bench.Discard(s)
}

// HideCause returns e without the text of its cause, for clients that must not see it. The trail keeps the text.
func (c *Call) HideCause(e *candor.Error) *candor.Error {
	c.hidden = e.Cause()
	return e.With(candor.WithCauseText(candor.Cause{}))
}

// Entry begins an entry of this call.
func (c *Call) Entry(kind ledger.Kind) ledger.Entry {
	e := ledger.Entry{Kind: kind, Call: c.ID, Tool: c.Name}
	if s := c.Session; s != nil {
		e.SessionID, e.Role, e.WorkspaceRoot = s.ID, s.Role, s.Root
	}
	return e
}

// Reserve announces an effect in the trail. With an error, which is AUDIT_LOG_FAILED or AUDIT_LOCK_FAILED, it must not happen.
func (c *Call) Reserve(ctx context.Context, plan string, about map[string]any) (*Effect, error) {
	e := c.Entry(ledger.KindReserve)
	e.PlanHash, e.Data = plan, candor.DetailsOf(about)
	opened, err := c.bench.trail.reserve(ctx, e)
	if err != nil {
		return nil, err
	}
	c.open++
	return &Effect{call: c, opened: opened, plan: plan}, nil
}

// Effect is something that was announced.
type Effect struct {
	call   *Call
	opened *ledger.Effect // nil without a trail
	plan   string
}

// Complete records how it ended, once: nil for well. An error of it says that the effect stands, or was undone, and the trail does not say so.
func (f *Effect) Complete(ctx context.Context, failed error, about map[string]any) error {
	f.call.open--
	if f.opened == nil {
		return nil
	}
	e := f.call.Entry(ledger.KindComplete)
	e.PlanHash, e.Outcome, e.Data = f.plan, ledger.OutcomeOK, candor.DetailsOf(about)
	if failed != nil {
		e.Outcome, e.Code = ledger.OutcomeError, candor.CodeOf(failed)
	}
	_, err := f.opened.Complete(ctx, e)
	f.call.stands = f.call.stands || err == nil && failed == nil
	return err
}

// Revertible says how to take back what the call did, if its end cannot be recorded. It is for an effect that is not reserved.
func (c *Call) Revertible(revert func() error) { c.revert = revert }
