package workbenchcmd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/bench"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench/kaiza"
)

// changesCommand has the flags of `candor workbench changes`.
type changesCommand struct {
	reviewCommand
	limit  int
	before string
}

const maxChangesShown = 500

func newChanges(env *term.Env) *cobra.Command {
	c := &changesCommand{reviewCommand: reviewCommand{Operator: bench.Operator{Env: env}}}
	cmd := &cobra.Command{
		Use:   "changes",
		Short: "List the changes of files in a workspace",
		Long: `List the changes of files that the ledger records for a workspace, the newest first: time, tool, plan, the files with their
sizes before and after, and whether the change can be undone now. Previous contents are kept for the last 500 changes of a
workspace, up to 256 MiB.`,
		Example: `  candor workbench changes
  candor workbench changes --root ~/projects/site --limit 10 --before 3f2a9c1d4e5f
  candor workbench changes --json`,
		Args: term.MaxArgs(0, "candor workbench changes --root DIR"),
		RunE: func(cmd *cobra.Command, _ []string) error { c.Cmd = cmd; return c.run() },
	}
	c.Register(cmd, reviewRoot)
	c.RegisterJSON(cmd)
	cmd.Flags().IntVar(&c.limit, "limit", 20, "maximum number of changes, at most 500")
	cmd.Flags().StringVar(&c.before, "before", "", "only changes older than the one with this id")
	return cmd
}

func (c *changesCommand) run() (err error) {
	if c.limit < 1 || c.limit > maxChangesShown {
		return term.BadInput("such as --limit 50", "--limit: must be 1 to %d, not %d", maxChangesShown, c.limit)
	}
	r, closing, err := c.open(false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	page, err := r.Changes(c.Cmd.Context(), c.before, c.limit)
	if err != nil {
		return changeError(err)
	}
	if c.JSON {
		return term.WriteJSONLine(c.Env.Out, page)
	}
	if len(page.Changes) == 0 {
		fmt.Fprintln(c.Env.Out, "No changes are recorded for this workspace.")
	}
	for i := range page.Changes {
		c.show(&page.Changes[i])
	}
	if page.Next != "" {
		fmt.Fprintf(c.Env.Out, "Older changes: candor workbench changes --before %s\n", page.Next)
	}
	return nil
}

func (c *changesCommand) show(change *kaiza.PastChange) {
	colors := c.Env.Colors()
	plan := ""
	if change.Plan != "" {
		plan = "  plan " + change.Plan[:min(12, len(change.Plan))]
	}
	state := colors.Good("can be undone")
	if !change.CanUndo {
		state = colors.Warn("cannot be undone: " + term.Printable(change.WhyNot))
	}
	if change.State != "" {
		state = colors.Warn(change.State + ": " + term.Printable(change.WhyNot))
	}
	if change.Undoes != "" {
		plan += "  of " + term.Printable(change.Undoes)
	}
	fmt.Fprintf(c.Env.Out, "%s  %s  %s%s  %s\n", colors.Name(term.Printable(change.ID)), bench.Stamp(change.At), term.Printable(change.Tool), plan, state)
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
	case f.Folder != "":
		return "folder " + f.Folder
	case f.Before == "":
		parts = append(parts, fmt.Sprintf("created, %d bytes", f.Bytes))
	case f.After == "":
		parts = append(parts, fmt.Sprintf("deleted, %d bytes", f.BytesBefore))
	case f.Before != f.After:
		parts = append(parts, fmt.Sprintf("changed, %d to %d bytes", f.BytesBefore, f.Bytes))
	}
	if f.Mode != "" {
		parts = append(parts, "mode "+f.Mode)
	}
	if f.After != "" {
		parts = append(parts, "sha256 "+f.After[:min(12, len(f.After))])
	}
	return strings.Join(parts, ", ")
}
