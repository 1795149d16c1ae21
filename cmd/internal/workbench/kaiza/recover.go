package kaiza

import (
	"bytes"
	"context"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/plan"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workspace"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/ledger"
)

// recovered is a change that a crash had interrupted, and what became of it.
type recovered struct {
	Call  string   `json:"call"`
	Tool  string   `json:"tool,omitempty"`
	Files []string `json:"files,omitempty"`
	State string   `json:"state"`
}

// recoveryWait bounds the wait for a process that is changing the workspace: then it is alive, and there is nothing to put right.
const recoveryWait = 500 * time.Millisecond

// recorder is what a recovery needs of whoever runs it: a server, or a person's command.
type recorder interface {
	Ledger() string // the folder of the trail, "" for none
	Logger() *slog.Logger
	Record(ctx context.Context, e ledger.Entry) error
}

// recoverAll looks at every workspace that the state folder knows.
func (k *System) recoverAll(ctx context.Context, b *workbench.Bench) {
	names, err := fs.ReadDir(k.o.State.Root().FS(), "workspaces")
	if err != nil {
		return // there is none yet
	}
	for _, name := range names {
		if _, err := k.recoverIn(ctx, b, "workspaces/"+name.Name()); err != nil {
			b.Logger().Error("what a crash has left in a workspace could not be put right", slog.Any("error", err))
		}
	}
}

func (k *System) recover(ctx context.Context, b *workbench.Bench, root string) ([]recovered, error) {
	return k.recoverIn(ctx, b, stateOf(root))
}

// recoverIn puts right what is known of one workspace, unless somebody is at work there.
func (k *System) recoverIn(ctx context.Context, b *workbench.Bench, folder string) ([]recovered, error) {
	state, err := k.o.State.Root().OpenRoot(folder)
	if err != nil {
		return nil, notSetUp(err)
	}
	defer state.Close() //nolint:errcheck // what is in it is on the disk
	release, err := workspace.Lock(ctx, state, recoveryWait)
	if candor.CodeOf(err) == candor.CodeLedgerLocked {
		return nil, nil
	}
	if err != nil {
		return nil, setUpError(err)
	}
	defer func() { _ = release() }() // the system takes it back anyway
	return k.putRight(ctx, b, state)
}

// putRight undoes every change whose end the trail does not tell of: its caller was never answered. One that the trail does tell of
// stands. What cannot be put right now waits for the next time. The caller holds the lock of the workspace.
func (k *System) putRight(ctx context.Context, b recorder, state *os.Root) ([]recovered, error) {
	revoked := map[string]bool{} // calls that revoked a plan, of whose end the trail does not tell
	found, err := workspace.Recover(state, k.folder, func(j workspace.Journal) workspace.Verdict {
		done, err := completed(ctx, b.Ledger(), j.ID)
		switch {
		case err != nil:
			b.Logger().Error("the trail does not tell how an interrupted change ended", slog.String("call", j.ID), slog.Any("error", err))
			return workspace.Wait
		case done && undoable(j):
			return workspace.Archive
		case done:
			return workspace.Keep
		case k.revoked(&j):
			revoked[j.ID] = true
			return workspace.Keep
		}
		return workspace.Undo
	})
	if err != nil {
		return nil, notSetUp(err)
	}
	out := make([]recovered, 0, len(found))
	for i := range found {
		out = append(out, k.tellRecovery(ctx, b, &found[i], revoked[found[i].ID]))
	}
	return out, nil
}

// clear puts right what a dead process has left in the workspace before anybody changes it again: on top of half a change nobody
// could tell any more what was whose. The caller holds the lock of the workspace.
func (k *System) clear(ctx context.Context, b recorder, d *desk) error {
	found, err := k.putRight(ctx, b, d.state)
	if err != nil {
		return candor.New(kaizacode.FileWriteFailed, "What earlier changes have left in the state folder could not be read; nothing was changed.", candor.WithCause(err))
	}
	for _, r := range found {
		if r.State == string(workspace.Waiting) {
			return candor.New(kaizacode.FileWriteFailed, "A change that a crash had interrupted could not be put right, and nothing may be changed before it is.",
				candor.WithSuggestion("Ask the operator to look at the log of the server."), candor.WithDetails(map[string]any{"interrupted": r}))
		}
	}
	return nil
}

// revoked reports the journal of a revocation that is in force, because the record of the approval is gone: the header of the plan alone approves
// nothing.
func (k *System) revoked(j *workspace.Journal) bool {
	about := noteOf(j)
	if about.Tool != "workbench revoke" || about.Plan == "" {
		return false
	}
	_, err := k.approvals.Lookup(plan.RootDigest(j.Root), about.Plan)
	return err != nil && candor.From(err).Details().Get("reason").String() == `"no_record"`
}

// tellRecovery ends the reservation that the crash has left open, and tells the operator. Where the change is kept the trail tells its
// end already, unless it is a revocation that the recovery found to be in force.
func (k *System) tellRecovery(ctx context.Context, b recorder, r *workspace.Recovered, revoked bool) recovered {
	about := noteOf(&r.Journal)
	told := aboutJournal(&r.Journal, string(r.State))
	told.Call = r.ID
	b.Logger().Warn("a change was found that a crash had interrupted, or that could not be undone", slog.String("call", r.ID), slog.String("state", told.State),
		slog.Any("left_alone", r.Unknown), slog.Any("error", r.Err))
	e := ledger.Entry{Kind: ledger.KindComplete, Call: r.ID, Tool: about.Tool, PlanHash: about.Plan, WorkspaceRoot: r.Journal.Root,
		Outcome: ledger.OutcomeError, Data: candor.DetailsOf(map[string]any{"recovered": told, "left_alone": r.Unknown})}
	switch r.State {
	case workspace.Kept, workspace.Waiting:
		if !revoked || r.State == workspace.Waiting {
			return told
		}
		e.Outcome = ledger.OutcomeOK
	case workspace.Unknown, workspace.Damaged:
		if r.Journal.Left { // the trail says so already
			return told
		}
		e.Outcome = ledger.OutcomeUnknown
	case workspace.Superseded:
	case workspace.NotDone, workspace.Undone:
		k.releaseUse(b, r.Journal.Root, about.Plan, r.ID, nil)
	}
	if err := b.Record(ctx, e); err != nil {
		b.Logger().Error("a recovery could not be recorded", slog.String("call", r.ID), slog.Any("error", err))
	}
	return told
}

// completed reports a change whose end the trail tells of. A trail that cannot be read tells nothing, which is not the same as no.
func completed(ctx context.Context, dir, call string) (bool, error) {
	if dir == "" {
		return false, nil
	}
	reader, err := ledger.OpenReader(dir)
	if err != nil {
		return false, err
	}
	defer reader.Close() //nolint:errcheck // it was only read
	mark := []byte(call)
	keep := func(l *ledger.Line) bool { return l.Kind == ledger.KindComplete && bytes.Contains(l.Raw(), mark) }
	for line, err := range reader.Entries(ctx, ledger.ReadOptions{Keep: keep}) {
		if err != nil {
			return false, err
		}
		if r, err := line.Record(); err == nil && r.Call == call && r.Outcome == ledger.OutcomeOK {
			return true, nil
		}
	}
	return false, ctx.Err()
}
