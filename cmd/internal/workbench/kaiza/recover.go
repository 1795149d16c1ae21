package kaiza

import (
	"bytes"
	"context"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workspace"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/ledger"
)

// recovered is an interrupted change and its state after the recovery.
type recovered struct {
	Call  string   `json:"call"`
	Tool  string   `json:"tool,omitempty"`
	Files []string `json:"files,omitempty"`
	State string   `json:"state"`
}

// recoveryWait limits the wait for the lock of the workspace. If another process holds it, its change is not interrupted.
const recoveryWait = 500 * time.Millisecond

// recorder is the part of the server, or of the operator's command, that a recovery needs.
type recorder interface {
	Ledger() string // the folder of the trail; "" if there is none
	Logger() *slog.Logger
	Record(ctx context.Context, e ledger.Entry) error
}

// Start recovers changes that a crash interrupted, in every workspace of the state folder that no other process is
// changing.
func (k *System) Start(ctx context.Context, b *workbench.Bench) {
	names, _ := fs.Glob(k.o.State.Root().FS(), "workspaces/*")
	for _, name := range names {
		if err := k.recoverIn(ctx, b, name); err != nil && candor.CodeOf(err) != kaizacode.AuditLockFailed {
			b.Logger().Error("recovering a workspace", slog.Any("error", err))
		}
	}
}

func (k *System) recoverIn(ctx context.Context, b *workbench.Bench, folder string) error {
	state, err := k.o.State.Root().OpenRoot(folder)
	if err != nil {
		return err
	}
	defer state.Close() //nolint:errcheck // read only
	lock, err := workspace.Lock(ctx, state, recoveryWait)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // the kernel releases it on exit
	_, err = k.recoverChanges(ctx, b, state)
	return err
}

// recoverChanges undoes every journalled change that the trail does not record as complete: its client never got a
// reply. Complete changes are kept. A change that cannot be recovered now is tried again next time. The caller must hold
// the lock of the workspace.
func (k *System) recoverChanges(ctx context.Context, b recorder, state *os.Root) ([]recovered, error) {
	found, err := workspace.Recover(state, k.folder, func(j workspace.Journal) workspace.Verdict {
		done, err := completed(ctx, b.Ledger(), j.ID)
		switch {
		case err != nil:
			b.Logger().Error("reading the end of an interrupted change from the trail", slog.String("call", j.ID), slog.Any("error", err))
			return workspace.Wait
		case !done:
			return workspace.Undo
		case slices.Contains(ofPlans, noteOf(&j).Tool):
			return workspace.Keep
		}
		return workspace.Archive
	})
	if err != nil {
		return nil, notSetUp(err)
	}
	out := make([]recovered, 0, len(found))
	for i := range found {
		out = append(out, recordRecovery(ctx, b, &found[i]))
	}
	return out, nil
}

// recoverFirst recovers interrupted changes before a new change, which could otherwise not be distinguished from a
// partial one. The caller must hold the lock of the workspace.
func (k *System) recoverFirst(ctx context.Context, b recorder, d *openWorkspace) error {
	found, err := k.recoverChanges(ctx, b, d.state)
	if err != nil {
		return candor.New(kaizacode.FileWriteFailed, "The journals of earlier changes could not be read; nothing was changed.", candor.WithCause(err))
	}
	for _, r := range found {
		if r.State == string(workspace.Waiting) {
			return candor.New(kaizacode.FileWriteFailed, "A change that a crash interrupted could not be undone; files cannot be changed until it is.",
				candor.WithSuggestion("Ask the operator to look at the log of the server."), candor.WithDetails(map[string]any{"interrupted": r}))
		}
	}
	return nil
}

// recordRecovery completes the reservation of an interrupted change and logs it. A kept change is already complete in
// the trail.
func recordRecovery(ctx context.Context, b recorder, r *workspace.Recovered) recovered {
	about := noteOf(&r.Journal)
	out := recovered{Call: r.ID, Tool: about.Tool, State: string(r.State)}
	for _, f := range r.Journal.Files {
		out.Files = append(out.Files, f.Path)
	}
	b.Logger().Warn("found a change that was interrupted or could not be undone", slog.String("call", r.ID), slog.String("state", out.State),
		slog.Any("left_alone", r.Unknown), slog.Any("error", r.Err))
	e := ledger.Entry{Kind: ledger.KindComplete, Call: r.ID, Tool: about.Tool, PlanHash: about.Plan, WorkspaceRoot: r.Journal.Root,
		Outcome: ledger.OutcomeError, Data: candor.DetailsOf(map[string]any{"recovered": out, "left_alone": r.Unknown})}
	switch r.State {
	case workspace.Kept, workspace.Waiting:
		return out
	case workspace.Unknown, workspace.Damaged:
		e.Outcome = ledger.OutcomeUnknown
	case workspace.NotDone, workspace.Undone:
	}
	if err := b.Record(ctx, e); err != nil {
		b.Logger().Error("recording a recovery", slog.String("call", r.ID), slog.Any("error", err))
	}
	return out
}

// completed reports whether the trail records a change as complete. It returns an error if the trail cannot be read.
func completed(ctx context.Context, dir, call string) (bool, error) {
	if dir == "" {
		return false, nil
	}
	reader, err := ledger.OpenReader(dir)
	if err != nil {
		return false, err
	}
	defer reader.Close() //nolint:errcheck // opened for reading
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
