package kaiza

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/workbench/plan"
	"github.com/candor-mcp/candor/workbench/workspace"
)

// Operator is the role of the person who approves, in the trail. No session can have it.
const Operator = "OPERATOR"

// Review is a person's look at the plans of one workspace.
type Review struct {
	k     *System
	d     *desk
	trail *ledger.Ledger // nil is none, or a review that decides nothing

	ledger string // the folder of the trail, "" is none
}

// OpenReview opens the workspace at root for its reviewer. trail may be nil.
func (k *System) OpenReview(root string, trail *ledger.Ledger) (*Review, error) {
	d, err := k.openDesk(root)
	if err != nil {
		return nil, err
	}
	return &Review{k: k, d: d, trail: trail}, nil
}

// ReadTrail says where the trail is, for what a review reads of it.
func (r *Review) ReadTrail(dir string) { r.ledger = dir }

// Ledger returns the folder of the trail, "" if there is none.
func (r *Review) Ledger() string { return r.ledger }

// Logger returns where the person learns of what happens besides.
func (r *Review) Logger() *slog.Logger { return slog.Default() }

// Record appends an entry to the trail.
func (r *Review) Record(ctx context.Context, e ledger.Entry) error {
	if r.trail == nil {
		return nil
	}
	_, err := r.trail.Append(ctx, e)
	return err
}

// Close gives the workspace back.
func (r *Review) Close() error { return r.d.Close() }

// Root returns the workspace's path.
func (r *Review) Root() string { return r.d.folder.Root() }

// Plans returns the plans.
func (r *Review) Plans() *plan.Store { return r.d.plans }

// maxFiles is how many names a person's look at a workspace counts.
const maxFiles = 200_000

// Files returns the files that exist, wherever in the workspace, so that the person sees what a scope touches; more says that there are
// others.
func (r *Review) Files(ctx context.Context) (files []string, more bool, err error) {
	return r.d.folder.Files(ctx, maxFiles)
}

// Approve records that a person approved a plan: in the trail first, then in the state, then in the plan's header.
// The approval ends by itself where within says so.
func (r *Review) Approve(ctx context.Context, hash, by, note string, within plan.Limits) (stored plan.Stored, err error) {
	err = r.decide(ctx, "approve", hash, by, func(plans *plan.Store) (err error) {
		stored, err = plans.ApproveWithin(hash, by, note, r.k.now(), within)
		return err
	})
	return stored, err
}

// Revoke takes an approval back.
func (r *Review) Revoke(ctx context.Context, hash, by string) (stored plan.Stored, err error) {
	err = r.decide(ctx, "revoke", hash, by, func(plans *plan.Store) (err error) {
		stored, err = plans.Revoke(hash)
		return err
	})
	return stored, err
}

func (r *Review) decide(ctx context.Context, action, hash, by string, do func(plans *plan.Store) error) error {
	release, err := workspace.Lock(ctx, r.d.state, r.k.o.LockWait)
	if err != nil {
		return err
	}
	defer func() { _ = release() }() // the system takes it back anyway
	entry := func() ledger.Entry {
		return ledger.Entry{Tool: "workbench " + action, Role: Operator, WorkspaceRoot: r.Root(), PlanHash: hash,
			Data: candor.DetailsOf(map[string]any{"by": by, "at": r.k.now().UTC().Format(time.RFC3339)})}
	}
	about := note{Tool: "workbench " + action, Plan: hash}
	if r.trail == nil {
		return do(r.k.plans(r.d, rand.Text(), about))
	}
	effect, err := r.trail.Reserve(ctx, entry())
	if err != nil {
		return err
	}
	failed := do(r.k.plans(r.d, effect.Call(), about))
	end := entry()
	end.Outcome = ledger.OutcomeOK
	if failed != nil {
		end.Outcome, end.Code = ledger.OutcomeError, candor.CodeOf(failed)
	}
	_, err = effect.Complete(ctx, end)
	return errors.Join(failed, err)
}
