package kaiza

import (
	"context"
	"os"
	"slices"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workspace"
	"github.com/candor-mcp/candor/ledger"
)

// unfinished returns the changes that have neither ended nor are under way: interrupted by a crash, or such as could not be undone.
func unfinished(ctx context.Context, trail string, state *os.Root) []workspace.Journal {
	found, err := workspace.Unfinished(state)
	if err != nil || len(found) == 0 {
		return nil // the next change says what is wrong
	}
	release, err := workspace.Lock(ctx, state, 0)
	underWay := err != nil
	if !underWay { // those that are still there have no process any more
		found, _ = workspace.Unfinished(state)
		_ = release()
	}
	return slices.DeleteFunc(found, func(j workspace.Journal) bool {
		if j.Left {
			return false
		}
		if underWay {
			return true
		}
		done, err := completed(ctx, trail, j.ID)
		return done && err == nil // only its journal could not be taken away
	})
}

// aboutJournal says which change a journal is of.
func aboutJournal(j *workspace.Journal, state string) recovered {
	out := recovered{Call: j.ID, Tool: noteOf(j).Tool, State: state}
	for _, f := range j.Files {
		if !f.Back {
			out.Files = append(out.Files, f.Path)
		}
	}
	return out
}

// The states of a change that does not stand and has not come to nothing either.
const (
	Interrupted = "interrupted" // by a crash: the next start, change or undo puts the files back
	NotUndone   = "not undone"  // putting the files back was tried, and some could not be
)

// unfinishedSays is what becomes of a change in a state.
func unfinishedSays(state string) string {
	if state == Interrupted {
		return "a crash interrupted it; the next start, change or undo puts the files back"
	}
	return "its files could not be put back so far; candor workbench undo ID replaces what is there now"
}

// Unfinished returns the changes of files that a crash has interrupted, or that could not be undone, the oldest first.
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

// Recover puts the files of interrupted changes back, as the next start of a server would, and returns those changes with the state "" and those that
// could not be undone as [NotUndone]. A change that the trail calls complete stands, and is not returned.
func (r *Review) Recover(ctx context.Context) ([]PastChange, error) {
	release, err := workspace.Lock(ctx, r.d.state, r.k.o.LockWait)
	if err != nil {
		return nil, err
	}
	defer func() { _ = release() }() // the system takes it back anyway
	journals, err := workspace.Unfinished(r.d.state)
	if err != nil || len(journals) == 0 {
		return nil, err
	}
	found, err := r.k.putRight(ctx, r, r.d.state)
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

// Restore undoes a change that could not be undone so far, and replaces what is in the place of its files. What they held is kept in the state
// folder as far as it can be read.
func (r *Review) Restore(ctx context.Context, id, by string) error {
	release, err := workspace.Lock(ctx, r.d.state, r.k.o.LockWait)
	if err != nil {
		return err
	}
	defer func() { _ = release() }() // the system takes it back anyway
	found, err := workspace.Restore(r.d.state, id, r.k.folder)
	if err != nil {
		return err
	}
	about := noteOf(&found.Journal)
	r.k.releaseUse(r, r.Root(), about.Plan, id, nil)
	return r.Record(ctx, ledger.Entry{Kind: ledger.KindComplete, Call: id, Tool: about.Tool, Role: Operator, PlanHash: about.Plan, WorkspaceRoot: r.Root(),
		Outcome: ledger.OutcomeError, Data: candor.DetailsOf(map[string]any{"recovered": aboutJournal(&found.Journal, string(found.State)), "by": by})})
}
