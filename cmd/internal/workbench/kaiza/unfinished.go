package kaiza

import (
	"context"
	"os"
	"slices"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workspace"
	"github.com/candor-mcp/candor/ledger"
)

// unfinished returns the changes that were interrupted by a crash or could not be undone.
func unfinished(ctx context.Context, trail string, state *os.Root) []workspace.Journal {
	found, err := workspace.Unfinished(state)
	if err != nil || len(found) == 0 {
		return nil // the next change reports the error
	}
	lock, err := workspace.Lock(ctx, state, 0)
	inProgress := err != nil
	if !inProgress { // the remaining changes are not in progress
		found, _ = workspace.Unfinished(state)
		_ = lock.Close()
	}
	return slices.DeleteFunc(found, func(j workspace.Journal) bool {
		if j.Left {
			return false
		}
		if inProgress {
			return true
		}
		done, err := completed(ctx, trail, j.ID)
		return done && err == nil // only its journal could not be removed
	})
}

// aboutJournal describes the change of a journal.
func aboutJournal(j *workspace.Journal, state string) recovered {
	out := recovered{Call: j.ID, Tool: noteOf(j).Tool, State: state}
	for _, f := range j.Files {
		if !f.Back {
			out.Files = append(out.Files, f.Path)
		}
	}
	return out
}

// States of a change that is neither complete nor undone.
const (
	Interrupted = "interrupted" // by a crash; the next start, change or undo restores the files
	NotUndone   = "not undone"  // some files could not be restored
)

// unfinishedSays describes a state.
func unfinishedSays(state string) string {
	if state == Interrupted {
		return "interrupted by a crash; the next start, change or undo restores the files"
	}
	return "its files could not be restored yet; candor workbench undo ID replaces the current ones"
}

// Unfinished returns the changes that were interrupted by a crash or could not be undone, oldest first.
func (r *Review) Unfinished(ctx context.Context) []PastChange {
	return pastOf(unfinished(ctx, r.ledger, r.d.state))
}

func pastOf(journals []workspace.Journal) (out []PastChange) {
	for i := range journals {
		j := &journals[i]
		about := noteOf(j)
		if !ofFiles(about.Tool) {
			continue
		}
		state := Interrupted
		if j.Left {
			state = NotUndone
		}
		out = append(out, PastChange{ID: j.ID, At: j.At, Tool: about.Tool, Plan: about.Plan, By: about.By, Files: journalled(j), State: state})
	}
	return out
}

// Recover restores the files of interrupted changes, as the next start of a server would. It returns those changes with
// the state "", or [NotUndone] if that failed. A change that is complete in the trail is kept and not returned.
func (r *Review) Recover(ctx context.Context) ([]PastChange, error) {
	lock, err := workspace.Lock(ctx, r.d.state, r.k.o.LockWait)
	if err != nil {
		return nil, err
	}
	defer func() { _ = lock.Close() }() // the kernel releases it on exit
	journals, err := workspace.Unfinished(r.d.state)
	if err != nil || len(journals) == 0 {
		return nil, err
	}
	found, err := r.k.recoverChanges(ctx, r, r.d.state)
	if err != nil {
		return nil, err
	}
	states := map[string]workspace.State{}
	for _, f := range found {
		states[f.Call] = workspace.State(f.State)
	}
	all := pastOf(journals)
	for i := range all {
		all[i].State = NotUndone
		if state := states[all[i].ID]; state == workspace.Undone || state == workspace.NotDone {
			all[i].State = ""
		}
	}
	return slices.DeleteFunc(all, func(c PastChange) bool {
		return states[c.ID] == workspace.Kept || states[c.ID] == workspace.Superseded
	}), nil
}

// Restore undoes a change that could not be undone before, and replaces its files. Their current contents are kept in
// the state folder if they can be read.
func (r *Review) Restore(ctx context.Context, id, by string) error {
	lock, err := workspace.Lock(ctx, r.d.state, r.k.o.LockWait)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // the kernel releases it on exit
	found, err := workspace.Restore(r.d.state, id, r.k.folder)
	if err != nil {
		return err
	}
	about := noteOf(&found.Journal)
	r.k.releaseUse(r, r.Root(), about.Plan, id, nil)
	return r.Record(ctx, ledger.Entry{Kind: ledger.KindComplete, Call: id, Tool: about.Tool, Role: Operator, PlanHash: about.Plan, WorkspaceRoot: r.Root(),
		Outcome: ledger.OutcomeError, Data: candor.DetailsOf(map[string]any{"recovered": aboutJournal(&found.Journal, string(found.State)), "by": by})})
}
