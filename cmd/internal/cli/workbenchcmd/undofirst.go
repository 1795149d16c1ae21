package workbenchcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench/kaiza"
)

// recoverFirst puts back what a crash has interrupted before anything else is undone, and says so. It reports done if that, or a change that
// could not be undone so far, is what the person asked for: an older change that stands is never undone in its place.
func (c *undoCommand) recoverFirst(ctx context.Context, r *kaiza.Review, id string) (done bool, err error) {
	found := r.Unfinished(ctx)
	if !c.dryRun {
		if found, err = r.Recover(ctx); err != nil {
			return false, changeFault(err)
		}
	}
	for i := range found {
		change := &found[i]
		meant := strings.HasPrefix(change.ID, id)
		switch {
		case change.State == kaiza.NotUndone && id != "" && meant:
			return true, c.restore(ctx, r, change)
		case change.State == kaiza.NotUndone && id == "":
			return false, term.BadInput("to put its files back whatever is there now: candor workbench undo "+change.ID+"; to undo another change, name it",
				"the change %s, %s of %s, could not be undone so far, and comes first", change.ID, term.Printable(change.Tool), fileNames(change.Files))
		case change.State == kaiza.NotUndone:
			continue
		}
		if err := c.tellRecovered(change, meant && !done); err != nil {
			return false, err
		}
		done = done || meant
	}
	return done, nil
}

// tellRecovered says that an interrupted change was put back, or with --dry-run would be. As JSON it is the report if it is what was asked for.
func (c *undoCommand) tellRecovered(change *kaiza.PastChange, asked bool) error {
	if c.json {
		if !asked {
			return nil
		}
		return term.WriteJSONLine(c.env.Out, undoReport{Undone: change.ID, Tool: change.Tool, DryRun: c.dryRun, OK: true, Files: change.Files, Interrupted: true})
	}
	says := "was put back as it was before"
	if c.dryRun {
		says = "would be put back as it was before; nothing was changed: this was a dry run"
	}
	fmt.Fprintf(c.env.Out, "%s, %s, was interrupted by a crash; %s\n", c.env.Colors().Name(change.ID), term.Printable(change.Tool), says)
	listFiles(c.env, change.Files)
	return nil
}

// restore undoes a change that could not be undone so far.
func (c *undoCommand) restore(ctx context.Context, r *kaiza.Review, change *kaiza.PastChange) error {
	report := undoReport{Undone: change.ID, Tool: change.Tool, DryRun: c.dryRun, Files: change.Files, Interrupted: true}
	if !c.json {
		fmt.Fprintf(c.env.Out, "Undo %s, %s of %s, and replace what is there now:\n", c.env.Colors().Name(change.ID), term.Printable(change.Tool), change.At.UTC().Format("2006-01-02 15:04:05"))
		listFiles(c.env, change.Files)
	}
	if !c.dryRun {
		if err := c.asks("Put these files back?"); err != nil {
			return err
		}
		if err := r.Restore(ctx, change.ID, c.person()); err != nil {
			return c.refuse(report, err)
		}
	}
	return c.succeed(report, "")
}

// fileNames names the first files of a change.
func fileNames(files []kaiza.ChangedFile) string {
	const most = 3
	names := make([]string, 0, most)
	for _, f := range files[:min(most, len(files))] {
		names = append(names, term.Printable(f.Path))
	}
	if len(files) > most {
		names = append(names, fmt.Sprintf("%d more", len(files)-most))
	}
	return strings.Join(names, ", ")
}
