package workbenchcmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench/kaiza"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workspace"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
)

// undoCommand holds the flags of `candor workbench undo`.
type undoCommand struct {
	planCommand
	dryRun bool
}

func newUndo(env *term.Env) *cobra.Command {
	c := &undoCommand{planCommand: planCommand{env: env, as: "undo"}}
	cmd := &cobra.Command{
		Use:   "undo [ID]",
		Short: "Put the files of a change back as they were",
		Long: `Put the files of a change back as they were before it, all of them or none: contents, modes, deleted and moved
files come back, new files go, and so do new folders that are empty. ID is one that candor workbench changes lists, or its
first six digits or more; without one it is the newest change that is neither an undo nor undone.

A change that a crash has interrupted is put back first. If that is the newest one, or the one that is named, nothing else is
undone. One that could not be undone so far must be named; what is in the place of its files by now is replaced, and kept
in the state folder.

If a file is not as the change has left it, nothing is undone and the difference is named. An undo is recorded in the trail
and can be undone itself. A server may be running; the command waits a few seconds for a call that is changing the workspace.

Exit code 0: it was undone, or with --dry-run could be. Exit code 1: it was not, because you said no or because a file has changed
since. Exit code 2: it could not be.`,
		Example: `  candor workbench undo --dry-run
  candor workbench undo 3f2a9c1d4e5f --root ~/projects/site --yes`,
		Args: term.MaxArgs(1, "candor workbench undo 3f2a9c1d4e5f"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.cmd = cmd
			id := ""
			if len(args) > 0 {
				id = args[0]
			}
			return c.run(id)
		},
	}
	c.Register(cmd, reviewRoot)
	c.decides(cmd)
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "only say what would be undone")
	return cmd
}

// undoReport is what --json prints.
type undoReport struct {
	Undone      string                 `json:"undone"` // the id of the change
	Tool        string                 `json:"tool"`
	ID          string                 `json:"id,omitempty"` // of the undo
	DryRun      bool                   `json:"dry_run"`
	OK          bool                   `json:"ok"`
	Files       []kaiza.ChangedFile    `json:"files,omitempty"` // as the undo makes them
	Code        string                 `json:"code,omitempty"`
	Message     string                 `json:"message,omitempty"`
	Differences []workspace.Difference `json:"differences,omitempty"`
	Interrupted bool                   `json:"interrupted,omitempty"` // by a crash, or not undone so far: it never stood
}

func (c *undoCommand) run(id string) (err error) {
	r, closing, err := c.open(!c.dryRun)
	if err != nil {
		return err
	}
	defer func() { err = c.afterwards(r, err, closing()) }()
	ctx := term.Context(c.cmd.Context())
	if done, err := c.recoverFirst(ctx, r, id); done || err != nil {
		return err
	}
	target, files, err := r.Undoable(ctx, id)
	report := undoReport{Undone: target.ID, Tool: target.Tool, DryRun: c.dryRun, Files: files, Differences: target.Differences}
	if err != nil {
		return c.refuse(report, err)
	}
	if !c.json {
		fmt.Fprintf(c.env.Out, "Undo %s, %s of %s:\n", c.env.Colors().Name(target.ID), term.Printable(target.Tool), target.At.UTC().Format("2006-01-02 15:04:05"))
		listFiles(c.env, files)
	}
	if !c.dryRun {
		if err := c.asks("Undo this change?"); err != nil {
			return err
		}
		var now kaiza.PastChange
		if report.ID, now, err = r.Undo(ctx, target.ID, c.person()); err != nil {
			report.Differences = now.Differences
			return c.refuse(report, err)
		}
	}
	return c.succeed(report, "; to make it again: candor workbench undo "+report.ID)
}

// succeed reports an undo, or the dry run of one. After follows on the line of an undo that happened.
func (c *undoCommand) succeed(report undoReport, after string) error {
	report.OK = true
	switch {
	case c.json:
		return term.WriteJSONLine(c.env.Out, report)
	case c.dryRun:
		fmt.Fprintln(c.env.Out, "Nothing was changed: this was a dry run.")
	default:
		fmt.Fprintf(c.env.Out, "%s %s%s\n", c.env.Colors().Good("undone"), report.Undone, after)
	}
	return nil
}

// refuse reports an undo that did not happen. A file that has changed since is a finding, all else a failure of the command.
func (c *undoCommand) refuse(report undoReport, err error) error {
	failed := changeFault(err)
	if candor.CodeOf(err) == kaizacode.HashMismatch {
		failed.Code = term.ExitFound
	}
	if c.json && report.Undone != "" {
		e := candor.From(err)
		report.Code, report.Message = e.Code().Symbol(), e.Message()
		if err := term.WriteJSONLine(c.env.Out, report); err != nil {
			return err
		}
		return failed
	}
	for _, d := range report.Differences {
		fmt.Fprintf(c.env.Out, "    %s  %s\n", term.Printable(d.Path), term.Printable(d.Says))
	}
	return failed
}

// changeFault says an error of the workspace to the person at the terminal.
func changeFault(err error) *term.Error {
	e := candor.From(err)
	hint := e.Suggestion()
	switch e.Code() {
	case kaizacode.InvalidInputValue:
		if hint == e.Code().Action() {
			hint = "candor workbench changes lists those of this folder; name another workspace with --root, and the server's folder with --state"
		}
	case candor.CodeLedgerLocked:
		hint = "wait until the call has ended, and try again"
	}
	return term.BadInput(hint, "%s: %s", e.Code().Symbol(), e.Message())
}
