package kaiza

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workspace"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/ledger"
)

const undoTool = "workbench undo"

// Undoable returns the change that [Review.Undo] would undo and the file changes this would make. The change is the one
// with the id or, if id is "", the newest that is neither an undo nor undone. The error is HASH_MISMATCH if a file was
// changed since, with details.differences; FILE_READ_FAILED if the old contents are not kept; and INVALID_INPUT_VALUE if
// the change does not exist.
func (r *Review) Undoable(ctx context.Context, id string) (PastChange, []ChangedFile, error) {
	target, back, err := r.reverse(ctx, id)
	return target, changed(back), err
}

func (r *Review) reverse(ctx context.Context, id string) (PastChange, []workspace.Change, error) {
	all, err := r.changes(ctx)
	if err != nil {
		return PastChange{}, nil, err
	}
	at, err := chooseUndo(all, id)
	if err != nil {
		return PastChange{}, nil, err
	}
	target := all[at]
	switch {
	case target.past == nil:
		return target, nil, candor.New(kaizacode.FileReadFailed, "The contents before this change are no longer kept.",
			candor.WithSuggestion("Restore the files from a backup or from version control."))
	case target.UndoneBy != "":
		return target, nil, candor.New(kaizacode.InvalidInputValue, "The change is undone already, by "+target.UndoneBy+".",
			candor.WithSuggestion("To make it again, undo "+target.UndoneBy+"."))
	}
	back, differences, err := r.d.folder.Reverse(r.d.state, target.past)
	switch {
	case err != nil:
		return target, nil, err
	case len(differences) > 0:
		target.Differences = differences
		return target, nil, candor.New(kaizacode.HashMismatch, "The workspace is not as the change left it: "+sinceThen(differences)+". Nothing was undone.",
			candor.WithDetails(map[string]any{"differences": differences}),
			candor.WithSuggestion("Undo the later changes first, or edit the files by hand."))
	case len(back) == 0:
		return target, nil, candor.New(kaizacode.InvalidInputValue, "The change did not change anything, so there is nothing to undo.")
	}
	return target, back, nil
}

// chooseUndo returns the index of the change to undo.
func chooseUndo(all []PastChange, id string) (int, error) {
	if id != "" {
		return findChange(all, id)
	}
	for i := range all {
		if all[i].Undoes == "" && all[i].UndoneBy == "" {
			return i, nil
		}
	}
	return -1, candor.New(kaizacode.InvalidInputValue, "The workspace has no change that could be undone.")
}

// Undo restores the files of a change atomically and returns the id under which the undo is recorded. An undo is itself
// a change: it is reserved in the trail, journalled, recovered after a crash, and can be undone. Undo holds the lock of
// the workspace; servers may be running. The errors are those of [Review.Undoable], and AUDIT_LOCK_FAILED if a call is
// changing the workspace.
func (r *Review) Undo(ctx context.Context, id, by string) (undone string, target PastChange, err error) {
	lock, err := workspace.Lock(ctx, r.d.state, r.k.o.LockWait)
	if err != nil {
		return "", PastChange{}, err
	}
	defer func() { _ = lock.Close() }() // the kernel releases it on exit
	if err := r.k.recoverFirst(ctx, r, r.d); err != nil {
		return "", PastChange{}, err
	}
	target, back, err := r.reverse(ctx, id)
	if err != nil {
		return "", target, err
	}
	undone, err = r.carryOut(ctx, target, back, by)
	return undone, target, err
}

// carryOut reserves, commits and completes the undo. If its end cannot be recorded, the undo is reverted.
func (r *Review) carryOut(ctx context.Context, target PastChange, back []workspace.Change, by string) (id string, err error) {
	entry := ledger.Entry{Tool: undoTool, Role: Operator, WorkspaceRoot: r.Root(), PlanHash: target.Plan,
		Data: candor.DetailsOf(map[string]any{"files": changed(back), "undoes": target.ID, "by": by})}
	id, effect, err := r.reserve(ctx, entry)
	if err != nil {
		return "", err
	}
	complete := func(failed error) error { return endEffect(ctx, effect, entry, failed) }
	about, err := json.Marshal(note{Tool: undoTool, Plan: target.Plan, Undoes: target.ID, By: by})
	if err != nil {
		return "", err
	}
	staged, err := r.d.folder.Stage(r.d.state, id, back, about)
	if err != nil {
		return "", errors.Join(err, complete(err))
	}
	if err := staged.Commit(ctx); err != nil {
		if staged.Stuck() { // the journal and the reservation remain until it is recovered
			return "", notUndone(err, nil)
		}
		return "", errors.Join(err, staged.Done(), complete(err))
	}
	if err := complete(nil); err != nil {
		return "", r.k.undo(staged, err)
	}
	if err := staged.Archive(); err != nil { // the undo is recorded; its journal is archived with the next change
		if r.trail == nil && errors.Is(err, workspace.ErrJournalLeft) { // without a trail only the journal shows whether it is complete
			return "", r.k.undo(staged, err)
		}
		r.Logger().Warn("archiving the journal of an undo", slog.Any("error", err))
	}
	return id, nil
}
