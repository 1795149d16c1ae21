package workbench

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/tail"
	"github.com/candor-mcp/candor/ledger"
)

// reopenAfter is how long a trail that could not be opened is left alone, so that a flood of calls does not hammer it.
const reopenAfter = 250 * time.Millisecond

// trail is the ledger of a bench. One that cannot be opened is no reason not to start: every call is refused and tries again, so
// that the server is back by itself when the folder is.
type trail struct {
	dir string // "" is none
	o   ledger.Options
	log *slog.Logger
	now func() time.Time

	mu    sync.Mutex
	open  *ledger.Ledger
	err   error
	tried time.Time
}

// ledger returns the open ledger; nil without an error if there is to be none.
func (t *trail) ledger() (*ledger.Ledger, error) {
	if t.dir == "" {
		return nil, nil //nolint:nilnil // no trail is a choice
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open != nil {
		return t.open, nil
	}
	if t.err != nil && t.now().Sub(t.tried) < reopenAfter {
		return nil, t.err
	}
	opened, err := ledger.Open(t.dir, t.o)
	t.tried, t.err = t.now(), nil
	if err != nil {
		t.err = auditError(context.Background(), err)
		t.log.Error("the trail cannot be opened, and no call is served until it can", slog.Any("error", t.err), slog.Any("cause", errors.Unwrap(err)))
		return nil, t.err
	}
	t.open = opened
	return t.open, nil
}

// auditError is what a call is told: that nothing was done. A call that was called off meanwhile says nothing about the trail.
func auditError(ctx context.Context, err error) *candor.Error {
	if ended := ctx.Err(); ended != nil && errors.Is(err, ended) {
		return candor.From(ended)
	}
	e := candor.From(err)
	if c := e.Code(); c != candor.CodeLedgerFailed && c != candor.CodeLedgerLocked {
		e = candor.New(candor.CodeLedgerFailed, "", candor.WithCause(err))
	}
	return e.With(candor.WithOrigin(candor.PartyServer, false))
}

// append records an entry.
func (t *trail) append(ctx context.Context, e ledger.Entry) error {
	_, err := t.attest(ctx, e)
	return err
}

// attest records an entry and returns where it stands.
func (t *trail) attest(ctx context.Context, e ledger.Entry) (ledger.Receipt, error) {
	l, err := t.ledger()
	if err != nil || l == nil {
		return ledger.Receipt{}, err
	}
	receipt, err := l.Append(ctx, e)
	if err != nil {
		return ledger.Receipt{}, auditError(ctx, err)
	}
	return receipt, nil
}

func (t *trail) reserve(ctx context.Context, e ledger.Entry) (*ledger.Effect, error) {
	l, err := t.ledger()
	if err != nil || l == nil {
		return nil, err
	}
	opened, err := l.Reserve(ctx, e)
	if err != nil {
		return nil, auditError(ctx, err)
	}
	return opened, nil
}

// RecordFailure is what the boundary needs of a ledger.
func (t *trail) RecordFailure(ctx context.Context, e *candor.Error, verdict, method string, args, envelope []byte) error {
	l, err := t.ledger()
	if err != nil || l == nil {
		return err
	}
	c := callOf(ctx)
	recorded := e
	if c != nil && !c.hidden.IsZero() {
		recorded = e.With(candor.WithCauseText(c.hidden))
	}
	entry := ledger.SentEntry(recorded, verdict, method, args, envelope)
	if c != nil {
		entry.Call = c.ID
	}
	if _, err = l.Append(ctx, entry); err == nil {
		return nil
	}
	if c != nil && c.changedNothing(e) {
		refused := auditError(ctx, err)
		return refused.With(candor.WithDetails(refused.Details().With("effect", tail.EffectNone)))
	}
	return err
}

// changedNothing reports a call that failed without an effect: none stands, none was left open by a panic, and e does not say that one may be.
func (c *Call) changedNothing(e *candor.Error) bool {
	return !c.stands && c.open == 0 && e.Details().Get("effect").IsZero()
}

// secondPlaces lists the files that hold checkpoints of this trail alone. One that other ledgers may share is found through the chains that
// name it; taken for the trail's own, the chains of the others would be missed here.
func (t *trail) secondPlaces() []string {
	if !t.o.OwnSecondPlace {
		return nil
	}
	return []string{t.o.SecondPlace}
}

func (t *trail) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil {
		return nil
	}
	return t.open.Close()
}
