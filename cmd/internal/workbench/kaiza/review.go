package kaiza

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"maps"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/plan"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workspace"
	"github.com/candor-mcp/candor/ledger"
)

// Operator is the role in the trail of the person who approves. Sessions cannot have it.
const Operator = "OPERATOR"

// Review gives the operator access to the plans, locks and changes of one workspace.
type Review struct {
	k     *System
	d     *openWorkspace
	trail *ledger.Ledger // nil without a trail, or if the review is read-only

	ledger   string   // the folder of the trail; "" if there is none
	warnings []string // warnings of the last decision
}

// OpenReview opens the workspace at root for the operator. trail may be nil.
func (k *System) OpenReview(root string, trail *ledger.Ledger) (*Review, error) {
	d, err := k.open(root)
	if err != nil {
		return nil, err
	}
	return &Review{k: k, d: d, trail: trail}, nil
}

// ReadTrail sets the folder of the trail that the review reads.
func (r *Review) ReadTrail(dir string) { r.ledger = dir }

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

// Root returns the workspace's path.
func (r *Review) Root() string { return r.d.folder.Root() }

// Plans returns the plans.
func (r *Review) Plans() *plan.Store { return r.d.plans }

// maxFiles limits the files that a review lists.
const maxFiles = 200_000

// Files returns the files of the workspace, so that the operator sees which ones a scope covers. more is true if the
// list is incomplete.
func (r *Review) Files(ctx context.Context) (files []string, more bool, err error) {
	return r.d.folder.Files(ctx, maxFiles)
}

// Approve records that a person approved a plan: in the trail, then in the state, then in the plan's header. If it
// returns an error, the approval is as before. Problems that do not affect the approval are available from
// [Review.Warnings]. within limits the approval.
func (r *Review) Approve(ctx context.Context, hash, by, note string, within plan.Limits) (stored plan.Stored, err error) {
	before, known := r.record(hash)
	at := r.k.now()
	err = r.decide(ctx, decision{
		action: "approve", hash: hash, by: by, about: limitsRecorded(note, at, within),
		do: func(plans *plan.Store) (err error) {
			stored, err = plans.Approve(hash, by, note, at, within)
			return err
		},
		undo: func() error {
			if known {
				return r.k.approvals.Approve(before)
			}
			_, err := r.k.approvals.Revoke(r.digest(), hash)
			return err
		},
		inForce: func() bool {
			now, ok := r.record(hash)
			at, err := r.d.plans.Load(hash)
			return ok && err == nil && at.Approved() && (!known || !now.At.Equal(before.At))
		},
	})
	if err == nil && stored.Hash == "" {
		stored, err = r.d.plans.Load(hash)
	}
	return stored, err
}

// limitsRecorded returns the limits and the note of an approval for the trail.
func limitsRecorded(note string, at time.Time, within plan.Limits) map[string]any {
	about := map[string]any{}
	if within.For != 0 {
		about["expires"] = at.Add(within.For).UTC().Format(time.RFC3339)
	}
	if within.Uses != 0 {
		about["uses"] = within.Uses
	}
	if note != "" {
		about["note"] = note
	}
	return about
}

// Revocable reports whether a plan has an approval record, even a damaged one, or the status APPROVED in its header.
func (r *Review) Revocable(hash string) bool {
	stored, err := r.d.plans.Load(hash)
	if err == nil && stored.Status == plan.StatusApproved {
		return true
	}
	return r.k.approvals.Has(r.digest(), hash)
}

// Revoke revokes an approval. If it returns an error, the approval is as before. Later problems are available from
// [Review.Warnings].
func (r *Review) Revoke(ctx context.Context, hash, by string) (stored plan.Stored, err error) {
	_, known := r.record(hash)
	err = r.decide(ctx, decision{
		action: "revoke", hash: hash, by: by,
		do: func(plans *plan.Store) (err error) {
			stored, err = plans.Revoke(hash)
			return err
		},
		inForce: func() bool {
			_, still := r.record(hash)
			return known && !still
		},
	})
	if err == nil && stored.Hash == "" {
		stored.Hash = hash
	}
	return stored, err
}

// Warnings returns problems of the last decision that did not change its outcome.
func (r *Review) Warnings() []string { return r.warnings }

func (r *Review) digest() string { return plan.RootDigest(r.Root()) }

// record returns the record of an approval.
func (r *Review) record(hash string) (plan.Approval, bool) {
	record, err := r.k.approvals.Lookup(r.digest(), hash)
	return record, err == nil
}

// decision is an operator's decision about a plan or a lock.
type decision struct {
	action, hash, by string
	session          string         // "" for none
	about            map[string]any // more data for the trail
	do               func(plans *plan.Store) error
	undo             func() error // reverts do; nil if the decision is safe to keep
	inForce          func() bool  // reports whether the decision is in force
}

// decide carries out a decision and records it. It returns nil if the decision is in force afterwards, and an error if
// it is not or if the next start will undo it.
func (r *Review) decide(ctx context.Context, d decision) error {
	r.warnings = nil
	lock, err := workspace.Lock(ctx, r.d.state, r.k.o.LockWait)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // the kernel releases it on exit
	call, effect, err := r.reserve(ctx, r.entry(d))
	if err != nil {
		return err
	}
	plans, files := r.k.planStore(r.d, call, note{Tool: "workbench " + d.action, Plan: d.hash})
	err = d.do(plans)
	if err == nil {
		err = r.complete(ctx, d, effect, nil)
	}
	if err == nil && effect != nil {
		return r.tidy(files, nil)
	}
	if err == nil {
		if err = r.tidy(files, workspace.ErrJournalLeft); err == nil {
			return nil
		}
	}
	return r.revert(ctx, d, effect, files, err)
}

// revert undoes a decision because of err, if possible, and returns an error unless the decision is still in force.
func (r *Review) revert(ctx context.Context, d decision, effect *ledger.Effect, files *planFiles, err error) error {
	var failed error
	if d.undo != nil {
		failed = d.undo()
		if files.written != nil {
			failed = errors.Join(failed, files.written.Undo())
		}
	}
	stands := d.inForce()
	var left error
	if files.written != nil && (failed == nil || stands) {
		left = files.written.Done()
		failed = errors.Join(failed, left)
	}
	if stands {
		missing := r.complete(ctx, d, effect, nil)
		if d.undo != nil && (effect == nil || missing != nil) && (isNotUndone(err) || errors.Is(left, workspace.ErrJournalLeft)) {
			return notUndone(err, failed) // the next start finds the journal without a complete entry and undoes the decision
		}
		r.warn("done, with problems", errors.Join(err, failed))
		if missing != nil {
			r.warn("the trail does not say how it ended", missing)
		}
		return nil
	}
	_ = r.complete(ctx, d, effect, err) // an open reservation has the same meaning
	return err
}

// entry returns a new entry of a decision.
func (r *Review) entry(d decision) ledger.Entry {
	data := map[string]any{"by": d.by, "at": r.k.now().UTC().Format(time.RFC3339)}
	maps.Copy(data, d.about)
	return ledger.Entry{Tool: "workbench " + d.action, Role: Operator, WorkspaceRoot: r.Root(), PlanHash: d.hash, SessionID: d.session, Data: candor.DetailsOf(data)}
}

// reserve reserves an effect in the trail. It returns the id of the call, and a nil effect if there is no trail.
func (r *Review) reserve(ctx context.Context, e ledger.Entry) (call string, effect *ledger.Effect, err error) {
	if r.trail == nil {
		return rand.Text(), nil, nil
	}
	if effect, err = r.trail.Reserve(ctx, e); err != nil {
		return "", nil, err
	}
	return effect.Call(), effect, nil
}

// complete records the end of a decision, if there is a trail.
func (r *Review) complete(ctx context.Context, d decision, effect *ledger.Effect, failed error) error {
	return endEffect(ctx, effect, r.entry(d), failed)
}

// endEffect completes an effect with an entry; effect is nil if there is no trail.
func endEffect(ctx context.Context, effect *ledger.Effect, end ledger.Entry, failed error) error {
	if effect == nil {
		return nil
	}
	end.Outcome = ledger.OutcomeOK
	if failed != nil {
		end.Outcome, end.Code = ledger.OutcomeError, candor.CodeOf(failed)
	}
	_, err := effect.Complete(ctx, end)
	return err
}

// tidy removes the journal of the header. It returns only errors that match matters; others become warnings.
func (r *Review) tidy(files *planFiles, matters error) error {
	if files.written == nil {
		return nil
	}
	err := files.written.Done()
	if err == nil || matters != nil && errors.Is(err, matters) {
		return err
	}
	r.warn("files were left in the state folder; the next change removes them", err)
	return nil
}

func (r *Review) warn(what string, err error) {
	r.warnings = append(r.warnings, what+": "+candor.From(err).Message())
}
