package kaiza

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/plan"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workspace"
)

// byClient is the person of an approval in the client.
const byClient = "the user of the client"

// askForApproval lets the client ask its user to approve a plan, and records the approval. Only an explicit yes approves.
func (k *System) askForApproval(ctx context.Context, c *workbench.Call, d *openWorkspace, shown plan.Stored) (plan.Stored, error) {
	var text strings.Builder
	if err := plan.Review(&text, shown); err != nil {
		return shown, err
	}
	if c.Ask(ctx, "Approve this plan for "+d.folder.Root()+"?\n\n"+text.String(), map[string]any{"type": "boolean", "title": "Approve"}) != true {
		return shown, nil
	}
	lock, err := workspace.Lock(ctx, d.state, k.o.LockWait)
	if err != nil {
		return shown, err
	}
	defer func() { _ = lock.Close() }() // the kernel releases it on exit
	effect, err := c.Reserve(ctx, shown.Hash, map[string]any{"approve": shown.Hash, "by": byClient})
	if err != nil {
		return shown, err
	}
	plans, files := k.planStore(d, rand.Text(), note{Tool: "workbench approve", Plan: shown.Hash})
	stored, err := plans.Approve(shown.Hash, byClient, "", k.now())
	err = k.settle(c.Bench(), files, err, func() error { return effect.Complete(ctx, nil, map[string]any{"approve": shown.Hash, "by": byClient}) })
	if err == nil {
		return stored, nil
	}
	if failed := k.approvals.Revoke(plan.RootDigest(d.folder.Root()), shown.Hash); failed != nil {
		err = notUndone(err, errors.Join(failed))
	}
	return shown, k.abort(ctx, c, effect, err)
}
