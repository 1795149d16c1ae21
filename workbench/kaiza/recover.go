package kaiza

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"log/slog"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/workbench"
	"github.com/candor-mcp/candor/workbench/workspace"
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

// recoverIn undoes every change whose end the trail does not tell of: its caller was never answered. One that the trail does tell of
// stands.
func (k *System) recoverIn(ctx context.Context, b *workbench.Bench, folder string) ([]recovered, error) {
	state, err := k.o.State.Root().OpenRoot(folder)
	if err != nil {
		return nil, notSetUp(err)
	}
	defer state.Close()
	release, err := workspace.Lock(ctx, state, recoveryWait)
	if candor.CodeOf(err) == candor.CodeKaizaAuditLockFailed {
		return nil, nil
	}
	if err != nil {
		return nil, notSetUp(err)
	}
	defer func() { _ = release() }() // the system takes it back anyway
	found, err := workspace.Recover(state, k.folder, func(j workspace.Journal) workspace.Verdict {
		if completed(ctx, b.Ledger(), j.ID) {
			return workspace.Keep
		}
		return workspace.Undo
	})
	if err != nil {
		return nil, notSetUp(err)
	}
	out := make([]recovered, 0, len(found))
	for i := range found {
		out = append(out, k.recordRecovery(ctx, b, &found[i]))
	}
	return out, nil
}

// recordRecovery ends the reservation that the crash has left open.
func (k *System) recordRecovery(ctx context.Context, b *workbench.Bench, r *workspace.Recovered) recovered {
	var about note
	_ = json.Unmarshal(r.Journal.Note, &about) // without it the entry says less
	told := recovered{Call: r.ID, Tool: about.Tool, State: string(r.State)}
	for _, f := range r.Journal.Files {
		told.Files = append(told.Files, f.Path)
	}
	outcome := ledger.OutcomeError
	switch r.State {
	case workspace.Kept:
		outcome = ledger.OutcomeOK
	case workspace.Unknown, workspace.Damaged, workspace.Waiting:
		outcome = ledger.OutcomeUnknown
	}
	e := ledger.Entry{Kind: ledger.KindComplete, Call: r.ID, Tool: about.Tool, PlanHash: about.Plan, WorkspaceRoot: r.Journal.Root,
		Outcome: outcome, Data: candor.DetailsOf(map[string]any{"recovered": told, "left_alone": r.Unknown})}
	if err := b.Record(ctx, e); err != nil {
		b.Logger().Error("a recovery could not be recorded", slog.String("call", r.ID), slog.Any("error", err))
	}
	b.Logger().Warn("a change that a crash had interrupted was put right", slog.String("call", r.ID), slog.String("state", told.State),
		slog.Any("error", r.Err))
	return told
}

// completed reports a change whose end the trail tells of.
func completed(ctx context.Context, dir, call string) bool {
	if dir == "" {
		return false
	}
	reader, err := ledger.OpenReader(dir)
	if err != nil {
		return false
	}
	defer reader.Close()
	mark := []byte(call)
	keep := func(l *ledger.Line) bool { return l.Kind == ledger.KindComplete && bytes.Contains(l.Raw(), mark) }
	for line, err := range reader.Entries(ctx, ledger.ReadOptions{Keep: keep}) {
		if err != nil {
			return false
		}
		if r, err := line.Record(); err == nil && r.Call == call && r.Outcome == ledger.OutcomeOK {
			return true
		}
	}
	return false
}
