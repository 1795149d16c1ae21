package workbenchcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/bench"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench/kaiza"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workspace"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
)

// undoCommand has the flags of `candor workbench undo`.
type undoCommand struct {
	reviewCommand
	dryRun bool
}

func newUndo(env *term.Env) *cobra.Command {
	c := &undoCommand{reviewCommand: reviewCommand{Operator: bench.Operator{Env: env}, as: "undo"}}
	cmd := &cobra.Command{
		Use:   "undo [ID]",
		Short: "Undo a change of files",
		Long: `Restore the files of a change to their state before it, all or none: contents, modes, deleted and moved files are restored,
new files are removed, and new folders if they are empty. ID is listed by candor workbench changes; at least its first six digits
are needed. The default is the newest change that is neither an undo nor undone.

A change that was interrupted by a crash is reverted first. If it is the newest one or has the given ID, nothing else is undone. A
change whose earlier undo failed must be given by ID; files that are now in place of its files are replaced and kept in the state
folder.

If a file has changed since, nothing is undone and the difference is printed. An undo is recorded in the ledger and can be undone
itself. The server may be running; the command waits a few seconds for a call that is changing the workspace.

Exit codes: 0 undone, or with --dry-run can be undone; 1 not confirmed, or a file has changed since; 2 an error.`,
		Example: `  candor workbench undo --dry-run
  candor workbench undo 3f2a9c1d4e5f --root ~/projects/site --yes`,
		Args: term.MaxArgs(1, "candor workbench undo 3f2a9c1d4e5f"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Cmd = cmd
			id := ""
			if len(args) > 0 {
				id = args[0]
			}
			return c.run(id)
		},
	}
	c.Register(cmd, reviewRoot)
	c.registerDecision(cmd)
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "print what would be undone, change nothing")
	return cmd
}

// undoReport is the output of --json.
type undoReport struct {
	Undone      string                 `json:"undone"` // the id of the change
	Tool        string                 `json:"tool"`
	ID          string                 `json:"id,omitempty"` // id of the undo
	DryRun      bool                   `json:"dry_run"`
	OK          bool                   `json:"ok"`
	Files       []kaiza.ChangedFile    `json:"files,omitempty"` // after the undo
	Code        string                 `json:"code,omitempty"`
	Message     string                 `json:"message,omitempty"`
	Differences []workspace.Difference `json:"differences,omitempty"`
	Interrupted bool                   `json:"interrupted,omitempty"` // the change was interrupted by a crash, or its undo failed
}

func (c *undoCommand) run(id string) (err error) {
	r, closing, err := c.open(!c.dryRun)
	if err != nil {
		return err
	}
	defer func() { err = c.finish(r, err, closing()) }()
	ctx := c.Cmd.Context()
	if done, err := c.recoverFirst(ctx, r, id); done || err != nil {
		return err
	}
	target, files, err := r.Undoable(ctx, id)
	report := undoReport{Undone: target.ID, Tool: target.Tool, DryRun: c.dryRun, Files: files, Differences: target.Differences}
	if err != nil {
		return c.refuse(report, err)
	}
	if !c.JSON {
		fmt.Fprintf(c.Env.Out, "Undo %s, %s of %s:\n", c.Env.Colors().Name(target.ID), term.Printable(target.Tool), bench.Stamp(target.At))
		listFiles(c.Env, files)
	}
	if !c.dryRun {
		if err := c.Confirm("Undo this change?"); err != nil {
			return err
		}
		var now kaiza.PastChange
		if report.ID, now, err = r.Undo(ctx, target.ID, c.Person()); err != nil {
			report.Differences = now.Differences
			return c.refuse(report, err)
		}
	}
	return c.succeed(report, "; to redo it: candor workbench undo "+report.ID)
}

// succeed prints an undo or its dry run. after is appended to the line of an undo.
func (c *undoCommand) succeed(report undoReport, after string) error {
	report.OK = true
	switch {
	case c.JSON:
		return term.WriteJSONLine(c.Env.Out, report)
	case c.dryRun:
		fmt.Fprintln(c.Env.Out, "Nothing was changed: this was a dry run.")
	default:
		fmt.Fprintf(c.Env.Out, "%s %s%s\n", c.Env.Colors().Good("undone"), report.Undone, after)
	}
	return nil
}

// refuse prints why nothing was undone. A file that has changed since is a finding; other errors are failures of the command.
func (c *undoCommand) refuse(report undoReport, err error) error {
	failed := changeError(err)
	if candor.CodeOf(err) == kaizacode.HashMismatch {
		failed.Code = term.ExitFound
	}
	if c.JSON && report.Undone != "" {
		e := candor.From(err)
		report.Code, report.Message = e.Code().Symbol(), e.Message()
		if err := term.WriteJSONLine(c.Env.Out, report); err != nil {
			return err
		}
		return failed
	}
	for _, d := range report.Differences {
		fmt.Fprintf(c.Env.Out, "    %s  %s\n", term.Printable(d.Path), term.Printable(d.Says))
	}
	return failed
}

// changeError turns an error of the workspace into one for the operator.
func changeError(err error) *term.Error {
	e := candor.From(err)
	hint := e.Suggestion()
	switch e.Code() {
	case kaizacode.InvalidInputValue:
		if hint == e.Code().Action() {
			hint = "candor workbench changes lists the changes; name another workspace with --root, or the folder of the server with --state"
		}
	case candor.CodeLedgerLocked:
		hint = "try again when the call has ended"
	}
	return term.BadInput(hint, "%s: %s", e.Code().Symbol(), e.Message())
}

// recoverFirst reverts changes that were interrupted by a crash and prints them. done reports whether the requested undo was such a
// change, or one whose earlier undo failed: then no older change is undone.
func (c *undoCommand) recoverFirst(ctx context.Context, r *kaiza.Review, id string) (done bool, err error) {
	found := r.Unfinished(ctx)
	if !c.dryRun {
		if found, err = r.Recover(ctx); err != nil {
			return false, changeError(err)
		}
	}
	for i := range found {
		change := &found[i]
		meant := strings.HasPrefix(change.ID, id)
		switch {
		case change.State == kaiza.NotUndone && id != "" && meant:
			return true, c.restore(ctx, r, change)
		case change.State == kaiza.NotUndone && id == "":
			return false, term.BadInput("to restore its files whatever is there now: candor workbench undo "+change.ID+"; to undo another change, give its ID",
				"change %s, %s of %s: an earlier undo failed, so it must be undone first", change.ID, term.Printable(change.Tool), fileNames(change.Files))
		case change.State == kaiza.NotUndone:
			continue
		}
		if err := c.printRecovered(change, meant && !done); err != nil {
			return false, err
		}
		done = done || meant
	}
	return done, nil
}

// printRecovered prints that an interrupted change was reverted, or would be with --dry-run. With --json it is printed only if asked
// is true.
func (c *undoCommand) printRecovered(change *kaiza.PastChange, asked bool) error {
	if c.JSON {
		if !asked {
			return nil
		}
		return term.WriteJSONLine(c.Env.Out, undoReport{Undone: change.ID, Tool: change.Tool, DryRun: c.dryRun, OK: true, Files: change.Files, Interrupted: true})
	}
	says := "was reverted"
	if c.dryRun {
		says = "would be reverted; nothing was changed: this was a dry run"
	}
	fmt.Fprintf(c.Env.Out, "%s, %s, was interrupted by a crash; %s\n", c.Env.Colors().Name(change.ID), term.Printable(change.Tool), says)
	listFiles(c.Env, change.Files)
	return nil
}

// restore undoes a change whose earlier undo failed.
func (c *undoCommand) restore(ctx context.Context, r *kaiza.Review, change *kaiza.PastChange) error {
	report := undoReport{Undone: change.ID, Tool: change.Tool, DryRun: c.dryRun, Files: change.Files, Interrupted: true}
	if !c.JSON {
		fmt.Fprintf(c.Env.Out, "Undo %s, %s of %s, and replace what is there now:\n", c.Env.Colors().Name(change.ID), term.Printable(change.Tool), bench.Stamp(change.At))
		listFiles(c.Env, change.Files)
	}
	if !c.dryRun {
		if err := c.Confirm("Restore these files?"); err != nil {
			return err
		}
		if err := r.Restore(ctx, change.ID, c.Person()); err != nil {
			return c.refuse(report, err)
		}
	}
	return c.succeed(report, "")
}

// fileNames lists the first files of a change.
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
