package kaiza

import (
	"context"
	"crypto/rand"
	"log/slog"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/plan"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workspace"
	"github.com/candor-mcp/candor/ledger"
)

// Operator is the role in the trail of the person that approves. Sessions cannot have it.
const Operator = "OPERATOR"

// Review gives the operator access to the plans, locks and changes of one workspace.
type Review struct {
	k      *System
	d      *openWorkspace
	trail  *ledger.Ledger // nil without a trail, or if the review is read-only
	ledger string         // the folder of the trail; "" if there is none
}

// OpenReview opens the workspace at root for the operator. dir is the folder of the trail, or "". trail may be nil.
func (k *System) OpenReview(root, dir string, trail *ledger.Ledger) (*Review, error) {
	d, err := k.open(root)
	if err != nil {
		return nil, err
	}
	return &Review{k: k, d: d, trail: trail, ledger: dir}, nil
}

// Ledger returns the folder of the trail, or "".
func (r *Review) Ledger() string { return r.ledger }

// Logger returns the logger of the command.
func (r *Review) Logger() *slog.Logger { return slog.Default() }

// Record appends an entry to the trail.
func (r *Review) Record(ctx context.Context, e ledger.Entry) error {
	if r.trail == nil {
		return nil
	}
	_, err := r.trail.Append(ctx, e)
	return err
}

// Close closes the workspace.
func (r *Review) Close() error { return r.d.Close() }

// Plans returns the plans.
func (r *Review) Plans() *plan.Store { return r.d.plans }

// Approve records that a person approved a plan: in the state, in the plan's header and in the trail. If it returns an
// error, the approval is as before, unless the error is INVARIANT_VIOLATION.
func (r *Review) Approve(ctx context.Context, hash, by, remark string) (plan.Stored, error) {
	about := map[string]any{"by": by}
	if remark != "" {
		about["note"] = remark
	}
	err := r.decide(ctx, r.entry("approve", hash, about), func(plans *plan.Store) error {
		_, err := plans.Approve(hash, by, remark, r.k.now())
		return err
	}, r.restoring(hash))
	if err != nil {
		return plan.Stored{}, err
	}
	return r.d.plans.Load(hash)
}

// Revocable reports whether a plan has an approval record, even a damaged one, or the status APPROVED in its header.
func (r *Review) Revocable(hash string) bool {
	stored, err := r.d.plans.Load(hash)
	return err == nil && stored.Status == plan.StatusApproved || r.k.approvals.Has(r.digest(), hash)
}

// Revoke revokes an approval. If it returns an error, the approval is as before, unless the error is INVARIANT_VIOLATION.
func (r *Review) Revoke(ctx context.Context, hash, by string) (stored plan.Stored, err error) {
	err = r.decide(ctx, r.entry("revoke", hash, map[string]any{"by": by}), func(plans *plan.Store) (err error) {
		stored, err = plans.Revoke(hash)
		return err
	}, r.restoring(hash))
	return stored, err
}

func (r *Review) digest() string { return plan.RootDigest(r.d.folder.Root()) }

// restoring returns a function that restores the present record of an approval.
func (r *Review) restoring(hash string) func() error {
	before, err := r.k.approvals.Lookup(r.digest(), hash)
	if err == nil {
		return func() error { return r.k.approvals.Approve(before) }
	}
	return func() error { return r.k.approvals.Revoke(r.digest(), hash) }
}

// decide carries out an operator's decision about a plan or a lock and records it. If either fails, undo reverts the
// decision.
func (r *Review) decide(ctx context.Context, e ledger.Entry, do func(plans *plan.Store) error, undo func() error) error {
	lock, err := workspace.Lock(ctx, r.d.state, r.k.o.LockWait)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // the kernel releases it on exit
	call, end, err := r.reserve(ctx, e)
	if err != nil {
		return err
	}
	plans, files := r.k.planStore(r.d, call, note{Tool: e.Tool, Plan: e.PlanHash})
	err = r.k.settle(r, files, do(plans), func() error { return end(nil) })
	if err == nil {
		return nil
	}
	if failed := undo(); failed != nil {
		return notUndone(err, failed)
	}
	if !isNotUndone(err) {
		_ = end(err) // an open reservation has the same meaning
	}
	return err
}

// entry returns a new entry of a decision.
func (r *Review) entry(action, hash string, about map[string]any) ledger.Entry {
	about["at"] = r.k.now().UTC().Format(time.RFC3339)
	return ledger.Entry{Tool: "workbench " + action, Role: Operator, WorkspaceRoot: r.d.folder.Root(), PlanHash: hash, Data: candor.DetailsOf(about)}
}

// reserve reserves an effect in the trail, if there is one. It returns the id of the call, and a function that records
// the end.
func (r *Review) reserve(ctx context.Context, e ledger.Entry) (call string, end func(failed error) error, err error) {
	if r.trail == nil {
		return rand.Text(), func(error) error { return nil }, nil
	}
	effect, err := r.trail.Reserve(ctx, e)
	if err != nil {
		return "", nil, err
	}
	return effect.Call(), func(failed error) error {
		e.Outcome = ledger.OutcomeOK
		if failed != nil {
			e.Outcome, e.Code = ledger.OutcomeError, candor.CodeOf(failed)
		}
		_, err := effect.Complete(ctx, e)
		return err
	}, nil
}
