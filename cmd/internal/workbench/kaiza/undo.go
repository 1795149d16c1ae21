package kaiza

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workspace"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
)

// Undoable returns the change that [Review.Undo] would undo and the file changes this would make. The change is the one
// with the id or, if id is "", the newest that is not an undo and not undone. The error is INVALID_INPUT_VALUE if the
// change does not exist or is undone, FILE_READ_FAILED if its old contents are not kept, and HASH_MISMATCH if a file is
// not as the change left it.
func (r *Review) Undoable(id string) (PastChange, []ChangedFile, error) {
	target, back, err := r.reverse(id)
	return target, changed(back), err
}

func (r *Review) reverse(id string) (target PastChange, back []workspace.Change, err error) {
	all, err := r.Changes()
	if err != nil {
		return target, nil, err
	}
	if target, err = chooseUndo(all, id); err != nil {
		return target, nil, err
	}
	if target.UndoneBy != "" {
		return target, nil, candor.New(kaizacode.InvalidInputValue, "The change is undone already, by "+target.UndoneBy+".",
			candor.WithSuggestion("To make it again, undo "+target.UndoneBy+"."))
	}
	back, err = r.d.folder.Reverse(r.d.state, target.past)
	if err == nil && len(back) == 0 {
		err = candor.New(kaizacode.InvalidInputValue, "There is nothing to undo: the change has changed nothing, or what it made is in use.")
	}
	if err != nil {
		return target, nil, err
	}
	return target, back, sinceChanged(r.d.folder.Check(back))
}

// sinceChanged returns HASH_MISMATCH for an error that means that a file is not as the change left it.
func sinceChanged(err error) error {
	switch candor.CodeOf(err) {
	case kaizacode.HashMismatch, kaizacode.FileNotFound, kaizacode.PathNotFound, kaizacode.FileAlreadyExists:
		return candor.New(kaizacode.HashMismatch, "The workspace is not as the change left it: "+candor.From(err).Message()+" Nothing was undone.", candor.WithCause(err),
			candor.WithSuggestion("Undo the later changes first, or edit the files by hand."))
	}
	return err
}

// Undo restores the files of a change atomically and returns the id under which the undo is recorded. An undo is itself
// a change: it is reserved in the trail, journalled, recovered after a crash, and can be undone. Undo holds the lock of
// the workspace; servers may be running. The errors are those of [Review.Undoable], and AUDIT_LOCK_FAILED if a call is
// changing the workspace.
func (r *Review) Undo(ctx context.Context, id, by string) (undone string, err error) {
	lock, err := workspace.Lock(ctx, r.d.state, r.k.o.LockWait)
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Close() }() // the kernel releases it on exit
	if err := r.k.recoverFirst(ctx, r, r.d); err != nil {
		return "", err
	}
	target, back, err := r.reverse(id)
	if err != nil {
		return "", err
	}
	entry := r.entry("undo", target.Plan, map[string]any{"files": changed(back), "undoes": target.ID, "by": by})
	undone, end, err := r.reserve(ctx, entry)
	if err != nil {
		return "", err
	}
	staged, err := r.k.stage(ctx, r.d, undone, back, note{Tool: entry.Tool, Plan: target.Plan, Undoes: target.ID, By: by})
	if err == nil {
		err = r.k.complete(r, staged, func() error { return end(nil) }, staged.Archive)
	}
	if err == nil {
		r.d.folder.RemoveMade(target.past)
		return undone, nil
	}
	if !isNotUndone(err) { // otherwise the reservation remains until it is recovered
		_ = end(err)
	}
	return "", err
}

// stage writes the journal of a change and commits it. If it fails, the files are as before.
func (k *System) stage(ctx context.Context, d *openWorkspace, call string, files []workspace.Change, about note) (*workspace.Staged, error) {
	text, err := json.Marshal(about)
	if err != nil {
		return nil, err
	}
	staged, err := d.folder.Stage(d.state, call, files, text)
	if err != nil {
		return nil, err
	}
	if err := staged.Commit(ctx); err != nil {
		if staged.Stuck() {
			return nil, notUndone(err, nil)
		}
		return nil, errors.Join(err, staged.Done())
	}
	return staged, nil
}
