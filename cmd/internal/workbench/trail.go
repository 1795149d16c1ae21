package workbench

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/record"
	"github.com/candor-mcp/candor/ledger"
)

// reopenAfter is the minimum time between two attempts to open the trail.
const reopenAfter = 250 * time.Millisecond

// trail is the ledger of a bench. If the ledger cannot be opened, the server still starts and refuses every call. Each
// call tries again, so the server recovers without a restart.
type trail struct {
	dir    string // "" for no trail
	domain string // of the system; its codes are preferred
	o      ledger.Options
	log    *slog.Logger

	mu    sync.Mutex
	open  *ledger.Ledger
	err   error
	tried time.Time
}

// ledger returns the open ledger, or nil, nil if the bench has no trail.
func (t *trail) ledger() (*ledger.Ledger, error) {
	if t.dir == "" {
		return nil, nil //nolint:nilnil // a bench may have no trail
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open != nil {
		return t.open, nil
	}
	if t.err != nil && time.Since(t.tried) < reopenAfter {
		return nil, t.err
	}
	opened, err := ledger.Open(t.dir, t.o)
	t.tried, t.err = time.Now(), nil
	if err != nil {
		t.err = t.auditError(context.Background(), err)
		t.log.Error("opening the trail failed; calls are refused until it can be opened", slog.Any("error", t.err), slog.Any("cause", errors.Unwrap(err)))
		return nil, t.err
	}
	t.open = opened
	return t.open, nil
}

// auditError returns the error for a call that was refused because of the trail, under the system's own code if it has one. The error
// of a cancelled call is kept.
func (t *trail) auditError(ctx context.Context, err error) *candor.Error {
	if ended := ctx.Err(); ended != nil && errors.Is(err, ended) {
		return candor.From(ended)
	}
	e := candor.From(err)
	if !record.IsAudit(e.Code()) {
		e = candor.New(candor.CodeLedgerFailed, "", candor.WithCause(err))
	}
	if own, ok := candor.LookupCode(t.domain, e.Code().Symbol()); ok && own != e.Code() {
		e = Recode(e, own, "")
	}
	return e.With(candor.WithOrigin(candor.PartyServer, false))
}

// append records an entry.
func (t *trail) append(ctx context.Context, e ledger.Entry) error {
	_, err := t.attest(ctx, e)
	return err
}

// attest records an entry and returns its receipt.
func (t *trail) attest(ctx context.Context, e ledger.Entry) (ledger.Receipt, error) {
	l, err := t.ledger()
	if err != nil || l == nil {
		return ledger.Receipt{}, err
	}
	receipt, err := l.Append(ctx, e)
	if err != nil {
		return ledger.Receipt{}, t.auditError(ctx, err)
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
		return nil, t.auditError(ctx, err)
	}
	return opened, nil
}

// RecordFailure implements [candor.Ledger].
func (t *trail) RecordFailure(ctx context.Context, f candor.Failure) error {
	l, err := t.ledger()
	if err != nil || l == nil {
		return err
	}
	c := callOf(ctx)
	e := f.Error
	if c != nil && !c.hidden.IsZero() {
		f.Error = e.With(candor.WithCauseText(c.hidden))
	}
	entry := ledger.FailureEntry(f)
	if c != nil {
		entry.Call = c.ID
	}
	if _, err = l.Append(ctx, entry); err == nil {
		return nil
	}
	if c != nil && c.changedNothing(e) {
		refused := t.auditError(ctx, err)
		return refused.With(candor.WithDetails(refused.Details().With("effect", record.EffectNone)))
	}
	return err
}

// changedNothing reports whether a failed call had no effect: no effect was recorded or left open by a panic, and e does
// not mention one.
func (c *Call) changedNothing(e *candor.Error) bool {
	return !c.effective && c.open == 0 && e.Details().Get("effect").IsZero()
}

// witnessCopies lists the files that hold checkpoints of this trail only. A file that other ledgers share is found
// through the chains that name it; if it were listed here, the chains of the other ledgers would be reported as missing.
func (t *trail) witnessCopies() []string {
	if !t.o.OwnWitnessCopy {
		return nil
	}
	return []string{t.o.WitnessCopy}
}

func (t *trail) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil {
		return nil
	}
	return t.open.Close()
}
