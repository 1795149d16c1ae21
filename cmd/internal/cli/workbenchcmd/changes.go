package workbenchcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/bench"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench/kaiza"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/internal/plural"
)

const maxChangesShown = 500

func newChanges(env *term.Env) *cobra.Command {
	limit := 0
	cmd := &cobra.Command{
		Use:   "changes",
		Short: "List the changes of files in a workspace",
		Long: `List the changes of files in a workspace, the newest first: time, tool, plan, and the files with their sizes before
and after. The list has those with previous contents, which are kept for the last 500 changes of a workspace, up to 256 MiB. The
ledger has all changes.`,
		Example: `  candor workbench changes
  candor workbench changes --root ~/projects/site --limit 10
  candor workbench changes --json`,
		Args: term.MaxArgs(0, "candor workbench changes --root DIR"),
	}
	newReview(env, cmd, "", func(c *reviewCommand, r *kaiza.Review, _ []string) error { return c.changes(r, limit) })
	cmd.Flags().IntVar(&limit, "limit", 20, "maximum number of changes, at most 500")
	return cmd
}

func (c *reviewCommand) changes(r *kaiza.Review, limit int) error {
	if limit < 1 || limit > maxChangesShown {
		return term.BadInput("such as --limit 50", "--limit: must be 1 to %d, not %d", maxChangesShown, limit)
	}
	all, err := r.Changes()
	if err != nil {
		return changeError(err)
	}
	all = all[:min(limit, len(all))]
	return term.WriteReport(c.Env, c.JSON, map[string]any{"changes": all}, true, func() {
		if len(all) == 0 {
			fmt.Fprintln(c.Env.Out, "This workspace has no changes that can be undone.")
		}
		for i := range all {
			c.showChange(&all[i])
		}
	})
}

func (c *reviewCommand) showChange(change *kaiza.PastChange) {
	colors := c.Env.Colors()
	plan := ""
	if change.Plan != "" {
		plan = "  plan " + change.Plan[:min(12, len(change.Plan))]
	}
	if change.Undoes != "" {
		plan += "  of " + term.Printable(change.Undoes)
	}
	if change.UndoneBy != "" {
		plan += "  " + colors.Warn("undone by "+term.Printable(change.UndoneBy))
	}
	fmt.Fprintf(c.Env.Out, "%s  %s  %s%s\n", colors.Name(term.Printable(change.ID)), bench.Stamp(change.At), term.Printable(change.Tool), plan)
	listFiles(c.Env, change.Files)
}

// listFiles prints each file and its change, one per line.
func listFiles(env *term.Env, files []kaiza.ChangedFile) {
	for _, f := range files {
		fmt.Fprintf(env.Out, "    %s  %s\n", term.Printable(f.Path), describeFile(f))
	}
}

func describeFile(f kaiza.ChangedFile) string {
	var parts []string
	switch {
	case f.Before == "":
		parts = append(parts, fmt.Sprintf("created, %d bytes", f.Bytes))
	case f.After == "":
		parts = append(parts, fmt.Sprintf("deleted, %d bytes", f.BytesBefore))
	case f.Before != f.After:
		parts = append(parts, fmt.Sprintf("changed, %d to %d bytes", f.BytesBefore, f.Bytes))
	}
	if f.After != "" {
		parts = append(parts, "sha256 "+f.After[:min(12, len(f.After))])
	}
	return strings.Join(parts, ", ")
}

func newUndo(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "undo [ID]",
		Short: "Undo a change of files",
		Long: `Restore the files of a change to their state before it, all or none: contents and deleted files are restored,
new files are removed, and new folders if they are empty. ID is listed by candor workbench changes; at least its first six digits
are needed. The default is the newest change that was not undone and is not an undo.

A change that was interrupted by a crash is reverted first. If a file has changed since, nothing is undone. An undo is recorded in the ledger and can be undone
itself. The server may be running; the command waits a few seconds for a call that is changing the workspace.

Exit codes: 0 undone, or with --dry-run can be undone; 1 not confirmed, or a file has changed since; 2 an error.`,
		Example: `  candor workbench undo --dry-run
  candor workbench undo 3f2a9c1d4e5f --root ~/projects/site --yes
  candor workbench undo --plan a94726a5571c --dry-run`,
		Args: term.MaxArgs(1, "candor workbench undo 3f2a9c1d4e5f"),
	}
	plan := ""
	c := newReview(env, cmd, "undo", func(c *reviewCommand, r *kaiza.Review, args []string) error {
		switch {
		case plan == "":
			return c.undo(r, strings.Join(args, ""))
		case len(args) > 0:
			return term.BadInput("give one of them", "undo: both an id and --plan")
		}
		return c.undoPlan(r, plan)
	})
	cmd.Flags().StringVar(&plan, "plan", "", "undo all changes of this plan, the newest first; a hash, or at least its first eight digits")
	cmd.Flags().BoolVar(&c.preview, "dry-run", false, "print what would be undone, change nothing")
	return cmd
}

// undoReport is the output of --json.
type undoReport struct {
	Undone  string              `json:"undone"` // the id of the change
	Tool    string              `json:"tool"`
	ID      string              `json:"id,omitempty"` // id of the undo
	DryRun  bool                `json:"dry_run"`
	OK      bool                `json:"ok"`
	Files   []kaiza.ChangedFile `json:"files,omitempty"` // after the undo
	Code    string              `json:"code,omitempty"`
	Message string              `json:"message,omitempty"`
}

func (c *reviewCommand) undo(r *kaiza.Review, id string) error {
	target, files, err := r.Undoable(id)
	report := undoReport{Undone: target.ID, Tool: target.Tool, DryRun: c.preview, Files: files}
	if err != nil {
		return c.refuse(report, err)
	}
	if !c.JSON {
		fmt.Fprintf(c.Env.Out, "Undo %s, %s of %s:\n", c.Env.Colors().Name(target.ID), term.Printable(target.Tool), bench.Stamp(target.At))
		listFiles(c.Env, files)
	}
	if !c.preview {
		if err := c.Confirm("Undo this change?"); err != nil {
			return err
		}
		if report.ID, err = r.Undo(c.Cmd.Context(), target.ID, c.Person()); err != nil {
			return c.refuse(report, err)
		}
	}
	report.OK = true
	switch {
	case c.JSON:
		return term.WriteJSONLine(c.Env.Out, report)
	case c.preview:
		fmt.Fprintln(c.Env.Out, "Nothing was changed: this was a dry run.")
	default:
		fmt.Fprintf(c.Env.Out, "%s %s; to redo it: candor workbench undo %s\n", c.Env.Colors().Good("undone"), report.Undone, report.ID)
	}
	return nil
}

// minPlan is the minimum length of an abbreviated plan hash.
const minPlan = 8

// undoPlan undoes the changes of a plan, the newest first. It stops at the first that cannot be undone; those that were undone
// before stay so.
func (c *reviewCommand) undoPlan(r *kaiza.Review, hash string) error {
	all, err := r.Changes()
	if err != nil {
		return changeError(err)
	}
	all = slices.DeleteFunc(all, func(p kaiza.PastChange) bool {
		return len(hash) < minPlan || !strings.HasPrefix(p.Plan, hash) || p.Undoes != "" || p.UndoneBy != ""
	})
	if len(all) == 0 {
		return term.BadInput("candor workbench changes lists the changes with their plans", "no change of plan %s can be undone", hash)
	}
	if !c.JSON {
		for i := range all {
			c.showChange(&all[i])
		}
	}
	if c.preview {
		return nil
	}
	if err := c.Confirm(fmt.Sprintf("Undo %s of this plan?", plural.Count(len(all), "change", "changes"))); err != nil {
		return err
	}
	c.Yes = true // for each of them
	for i := range all {
		if err := c.undo(r, all[i].ID); err != nil {
			return err
		}
	}
	return nil
}

// refuse prints why nothing was undone. A file that has changed since is a finding; other errors are failures of the command.
func (c *reviewCommand) refuse(report undoReport, err error) error {
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
	}
	return failed
}

// changeError turns an error of the workspace into one for the operator.
func changeError(err error) *term.Error {
	e := candor.From(err)
	hint := e.Suggestion()
	switch e.Code() {
	case kaizacode.InvalidInputValue:
		if hint == e.Code().Info().Action {
			hint = "candor workbench changes lists the changes; name another workspace with --root, or the folder of the server with --state"
		}
	case kaizacode.AuditLockFailed, candor.CodeLedgerLocked:
		hint = "try again when the call has ended"
	}
	return term.BadInput(hint, "%s: %s", e.Code().Symbol(), e.Message())
}
