package dualcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/bench"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/rules"
	"github.com/candor-mcp/candor/internal/plural"
	ledgerproof "github.com/candor-mcp/candor/ledger/proof"
)

// adminCommand has the fields that the commands below `candor workbench dual` share. They change nothing and can be used while the server runs.
type adminCommand struct {
	bench.Operator
}

func (c *adminCommand) register(cmd *cobra.Command) {
	c.Cmd = cmd
	c.RegisterState(cmd)
}

// with calls do with the opened state and a context that Ctrl-C cancels. A folder named by --state must exist.
func (c *adminCommand) with(do func(context.Context, *dual.Admin) error) (err error) {
	if err := c.RequireState(); err != nil {
		return err
	}
	dir, err := c.StateDir(c.Env, "dual")
	if err != nil {
		return err
	}
	state, err := workbench.OpenStateReadOnly(dir)
	if err != nil {
		return term.BadInput("name the folder of the server with --state", "%s", term.TrimHint(err))
	}
	defer func() { err = errors.Join(err, state.Close()) }()
	ctx, stop := term.StopContext(c.Cmd)
	defer stop()
	admin, err := dual.OpenAdmin(ctx, state.Dir(), c.LedgerDir(c.Env, state))
	if err != nil {
		return term.BadInput("name the folder of the server with --state", "%s", term.TrimHint(err))
	}
	defer func() { err = errors.Join(err, admin.Close()) }()
	if err = do(ctx, admin); err != nil && ctx.Err() != nil {
		return term.BadInput("run the command again", "interrupted")
	}
	return err
}

func newVerify(env *term.Env) *cobra.Command {
	c := &adminCommand{Operator: bench.Operator{Env: env}}
	cmd := &cobra.Command{
		Use:   "verify [TASK]",
		Short: "Check that no thought record was changed or removed",
		Long: `Check the thought records of all tasks, or of one: the hash of each, the chain of each task, and the attestations in the
ledger, which reveal records that were removed from the end. The roots of finalised audit sessions are recomputed. The ledger is
verified; it must belong to this database and contain every attestation that the database refers to. With a task, only its records
and their sessions are checked. The server may be running.

Exit codes: 0 OK; 1 FAILED; 2 the check could not run.`,
		Example: `  candor workbench dual verify
  candor workbench dual verify 3f2a9c1d --json`,
		Args: term.MaxArgs(1, "candor workbench dual verify [TASK]"),
		RunE: func(_ *cobra.Command, args []string) error {
			return c.with(func(ctx context.Context, a *dual.Admin) error { return c.verify(ctx, a, args) })
		},
	}
	c.register(cmd)
	c.RegisterJSON(cmd)
	return cmd
}

func (c *adminCommand) verify(ctx context.Context, a *dual.Admin, args []string) error {
	task := ""
	if len(args) > 0 {
		var err error
		if task, err = c.findTask(ctx, a, args[0]); err != nil {
			return err
		}
	}
	v, err := a.Verify(ctx, task)
	if err != nil {
		return term.BadInput("try again, or restore the state from a backup", "%s", err)
	}
	return term.WriteReport(c.Env, c.JSON, v, v.Valid, func() { c.writeVerification(v) })
}

func (c *adminCommand) findTask(ctx context.Context, a *dual.Admin, typed string) (string, error) {
	id, err := a.FindTask(ctx, typed)
	switch {
	case errors.Is(err, dual.ErrNoTask):
		return "", term.BadInput("the answers of task_create and task_list have the ids", "%q: no task id begins with this", typed)
	case err != nil:
		return "", term.BadInput("give more of the id", "%s", err)
	}
	return id, nil
}

func (c *adminCommand) writeVerification(v *dual.Verification) {
	colors := c.Env.Colors()
	for _, b := range v.Broken {
		fmt.Fprintf(c.Env.Out, "%s  task %s, record %d: %s\n", colors.Bad("broken"), term.Printable(b.TaskID), b.Seq, b.Fault)
	}
	for _, s := range v.BrokenRoots {
		fmt.Fprintf(c.Env.Out, "%s  session %s: %s\n", colors.Bad("broken"), term.Printable(s.ID), term.Printable(s.Reason))
	}
	for _, fault := range v.Other {
		fmt.Fprintf(c.Env.Out, "%s  %s\n", colors.Bad("broken"), term.Printable(fault))
	}
	if hidden := v.BrokenCount - len(v.Broken) - len(v.BrokenRoots) - len(v.Other); hidden > 0 {
		fmt.Fprintf(c.Env.Out, "and %d more\n", hidden)
	}
	checked := fmt.Sprintf("%s of %s, %d attested by the ledger, %s", plural.Of(v.Records, "record"), plural.Of(v.Tasks, "task"), v.Attested,
		plural.Of(v.Sessions, "finalised session"))
	if v.Valid {
		fmt.Fprintf(c.Env.Out, "%s: %s\n", colors.Good("OK"), checked)
		return
	}
	fmt.Fprintf(c.Env.Out, "%s: %s; %s\n", colors.Bad("FAILED"), plural.Of(v.BrokenCount, "problem"), checked)
}

func newSessions(env *term.Env) *cobra.Command {
	c := &adminCommand{Operator: bench.Operator{Env: env}}
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List the audit sessions",
		Long: `List the audit sessions, the newest first: open ones, and finalised ones with their root. An agent closes an open session with
merkle_finalize, or removes one without records with its argument abandon. The server may be running.

Exit codes: 0 listed; 2 an error.`,
		Example: `  candor workbench dual sessions
  candor workbench dual sessions --json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return c.with(c.sessions) },
	}
	c.register(cmd)
	c.RegisterJSON(cmd)
	return cmd
}

func (c *adminCommand) sessions(ctx context.Context, a *dual.Admin) error {
	all, err := a.Sessions(ctx)
	if err != nil {
		return term.BadInput("run candor workbench dual verify", "%s", err)
	}
	return term.WriteReport(c.Env, c.JSON, map[string]any{"sessions": all}, true, func() {
		for i := range all {
			state := "open"
			if all[i].Finalized() {
				state = fmt.Sprintf("finalised %s, %s, root %s", all[i].FinalizedAt, plural.Of(int(all[i].Records), "record"), all[i].Root)
			}
			fmt.Fprintf(c.Env.Out, "%s  begun %s, %s\n", term.Printable(all[i].ID), all[i].BegunAt, state)
		}
		fmt.Fprintln(c.Env.Out, plural.Of(len(all), "session"))
	})
}

func newExport(env *term.Env) *cobra.Command {
	c := &adminCommand{Operator: bench.Operator{Env: env}}
	out, session := "", ""
	cmd := &cobra.Command{
		Use:   "export {TASK | --session ID}",
		Short: "Write the thought records of a task or a session with their proof",
		Long: `Write thought records into one JSON file, with the ledger's proof: those of a task, with the proof for the last of them, to which the
others are chained; or those of a finalised audit session, with the proof for its root. A third party checks the file with candor
ledger check-proof and the public key from candor ledger key export. Records that candor workbench dual verify reports as broken are
not exported. The server may be running.

Exit codes: 0 written; 2 an error.`,
		Example: `  candor workbench dual export 3f2a9c1d --out thoughts.json
  candor workbench dual export --session review-7 --out session.json
  candor ledger check-proof thoughts.json --key signer.pub`,
		Args: term.MaxArgs(1, "candor workbench dual export TASK"),
		RunE: func(_ *cobra.Command, args []string) error {
			if (session == "") == (len(args) == 0) {
				return term.BadInput("candor workbench dual export TASK, or candor workbench dual export --session ID", "one task or one session is needed")
			}
			return c.with(func(ctx context.Context, a *dual.Admin) error {
				return c.export(ctx, a, strings.Join(args, ""), session, out)
			})
		},
	}
	c.register(cmd)
	cmd.Flags().StringVar(&out, "out", "", "file to create; default standard output")
	cmd.Flags().StringVar(&session, "session", "", "id of a finalised audit session")
	return cmd
}

func (c *adminCommand) export(ctx context.Context, a *dual.Admin, typed, session, out string) error {
	export := func() (*rules.Export, error) { return a.ExportSession(ctx, session) }
	if session == "" {
		id, err := c.findTask(ctx, a, typed)
		if err != nil {
			return err
		}
		export = func() (*rules.Export, error) { return a.Export(ctx, id) }
	}
	file, err := exportCovered(ctx, export)
	switch {
	case errors.Is(err, dual.ErrNoRecords):
		return term.BadInput("a task has an export when an agent has recorded a thought about it", "%s", err)
	case errors.Is(err, dual.ErrNoSession):
		return term.BadInput("candor workbench dual sessions lists them", "%s", err)
	case errors.Is(err, dual.ErrSessionOpen):
		return term.BadInput("let the agent close it with merkle_finalize", "%s", err)
	case errors.Is(err, dual.ErrBroken):
		return term.BadInput("candor workbench dual verify lists the broken records", "%s", term.Printable(err.Error()))
	case errors.Is(err, dual.ErrNotAttested):
		return term.BadInput("start the server with a ledger; it attests the missing records", "%s", err)
	case errors.Is(err, ledgerproof.ErrNotCovered):
		return term.BadInput("try again in a second, when the next checkpoint is signed", "%s", err)
	case err != nil:
		return term.BadInput("run candor workbench dual verify", "%s", err)
	}
	return term.WriteFileOrOutput(c.Env, out, func(w io.Writer) error { return term.WriteJSONLine(w, file) })
}

// exportCovered calls export until the checkpoint exists that covers the attestation, for up to 3 s.
func exportCovered(ctx context.Context, export func() (*rules.Export, error)) (*rules.Export, error) {
	for tries := 0; ; tries++ {
		file, err := export()
		if tries == 15 || !errors.Is(err, ledgerproof.ErrNotCovered) {
			return file, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}
