package workrailcmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/bench"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail"
)

// doctorCommand has the flags of `candor workbench workrail doctor`.
type doctorCommand struct {
	adminCommand
	repair bool
}

func newDoctor(env *term.Env) *cobra.Command {
	c := &doctorCommand{adminCommand: adminCommand{Operator: bench.Operator{Env: env}}}
	cmd := &cobra.Command{
		Use:   "doctor [ID…]",
		Short: "Check the health of all sessions, and repair some problems",
		Long: `Read every session, or the given ones, and check the digests of events, the stored copy of the workflow, the current step, the
keys of tokens, and leftovers of crashes. Each problem is listed with its reason and the next step.

With --repair the command lists the repairs, asks for confirmation and makes them:

  - a stored workflow that is missing or damaged is restored from a workflow file with the same content, in --workflows or among
    the examples
  - keys that cannot be read are moved aside and replaced, and permissions of keys that others can read are corrected
  - leftover folders and files of a crash are removed

Events are never changed: save the valid part of a damaged session with export. Repairs are recorded in the ledger. The server may be
running.

Exit codes: 0 no problems, or all repaired; 1 there are problems; 2 the check could not run.`,
		Example: `  candor workbench workrail doctor
  candor workbench workrail doctor --repair --workflows ~/workflows
  candor workbench workrail doctor 3f2a9c1d --json`,
		ValidArgsFunction: c.completeSessions,
		RunE: func(_ *cobra.Command, args []string) error {
			return c.with(func(a *workrail.Admin) error { return c.run(a, args) })
		},
	}
	c.register(cmd)
	c.registerYes(cmd)
	cmd.Flags().BoolVar(&c.repair, "repair", false, "make the repairs")
	cmd.Flags().StringVar(&c.workflows, "workflows", "", "folder of workflow files of the server, to restore stored workflows")
	_ = cmd.MarkFlagDirname("workflows") // fails only for an unknown flag
	return cmd
}

// doctorReport is the output of --json.
type doctorReport struct {
	*workrail.Diagnosis
	OK bool `json:"ok"`
}

func (c *doctorCommand) run(a *workrail.Admin, args []string) error {
	if c.Yes && !c.repair {
		return term.BadInput("candor workbench workrail doctor --repair --yes", "--yes: needs --repair")
	}
	ids, err := c.findAll(a, args)
	if err != nil {
		return err
	}
	d, err := c.diagnose(a, ids)
	if err != nil {
		return err
	}
	if !c.JSON {
		for i := range d.Findings {
			c.show(&d.Findings[i])
		}
	}
	if c.repair {
		err = c.repairAll(a, d)
	}
	report := doctorReport{d, problems(d) == 0}
	if c.JSON {
		if e := term.WriteJSONLine(c.Env.Out, report); e != nil {
			return e
		}
	} else {
		c.sum(d)
	}
	switch {
	case err != nil:
		return err
	case !report.OK:
		return term.Found()
	}
	return nil
}

// findAll returns the session ids with the given beginnings.
func (c *adminCommand) findAll(a *workrail.Admin, typed []string) ([]string, error) {
	var ids []string
	for _, t := range typed {
		id, err := c.find(a, t)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func (c *doctorCommand) diagnose(a *workrail.Admin, ids []string) (*workrail.Diagnosis, error) {
	ctx, stop := term.StopContext(c.Cmd)
	defer stop()
	show, clearLine := c.progress("checking session")
	d, err := a.Diagnose(ctx, ids, show)
	clearLine()
	if err != nil {
		return nil, stateError(err)
	}
	return d, nil
}

// problems counts the findings that are not harmless and not repaired.
func problems(d *workrail.Diagnosis) (n int) {
	for _, f := range d.Findings {
		if !f.Harmless && !f.Repaired {
			n++
		}
	}
	return n
}

func repairable(d *workrail.Diagnosis) (n int) {
	for _, f := range d.Findings {
		if f.Repair != "" && !f.Repaired {
			n++
		}
	}
	return n
}

func (c *doctorCommand) show(f *workrail.Finding) {
	colors := c.Env.Colors()
	word := colors.Bad("problem")
	if f.Harmless {
		word = colors.Warn("note   ")
	}
	fmt.Fprintf(c.Env.Out, "%s  %s", word, f.Kind)
	for i, id := range f.Sessions {
		if i == 5 {
			fmt.Fprintf(c.Env.Out, "  and %d more", len(f.Sessions)-i)
			break
		}
		fmt.Fprintf(c.Env.Out, "  %s", colors.Name(id))
	}
	if f.Workflow != "" {
		fmt.Fprintf(c.Env.Out, "  %s", term.Printable(f.Workflow))
	}
	fmt.Fprintf(c.Env.Out, "\n         %s\n", term.Printable(f.Message))
	if f.Repair != "" {
		fmt.Fprintf(c.Env.Out, "         --repair: %s\n", f.Repair)
	}
	if f.Advice != "" {
		fmt.Fprintf(c.Env.Out, "         %s\n", term.Printable(f.Advice))
	}
}

// repairAll makes the repairs after confirmation. It can be interrupted between two repairs.
func (c *doctorCommand) repairAll(a *workrail.Admin, d *workrail.Diagnosis) (err error) {
	n := repairable(d)
	if n == 0 {
		return nil
	}
	if err := c.Confirm(fmt.Sprintf("Make the %s above?", term.Count(uint64(n), "repair", "repairs"))); err != nil { //nolint:gosec // a count
		return err
	}
	log, err := c.openLog()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.close()) }()
	ctx, stop := term.StopContext(c.Cmd)
	defer stop()
	for i := range d.Findings {
		f := &d.Findings[i]
		if f.Repair == "" {
			continue
		}
		if ctx.Err() != nil {
			return stateError(ctx.Err())
		}
		whole := context.WithoutCancel(ctx)
		about := map[string]any{"kind": string(f.Kind), "found": f.Message, "repair": f.Repair}
		if err := log.record(whole, "", about, func() error { return a.Repair(whole, f) }); err != nil {
			return stateError(fmt.Errorf("%s: %w", f.Kind, err))
		}
		if !c.JSON {
			fmt.Fprintf(c.Env.Out, "%s %s\n", c.Env.Colors().Good("repaired"), f.Kind)
		}
	}
	return nil
}

func (c *doctorCommand) sum(d *workrail.Diagnosis) {
	colors := c.Env.Colors()
	bad := problems(d)
	healthy := fmt.Sprintf("%d of %s healthy", d.Healthy, term.Count(uint64(d.Sessions), "session is", "sessions are")) //nolint:gosec // a count
	if bad == 0 {
		fmt.Fprintf(c.Env.Out, "%s: %s\n", colors.Good("OK"), healthy)
	} else {
		fmt.Fprintf(c.Env.Out, "%s: %s; %s\n", colors.Bad("FAILED"), term.Count(uint64(bad), "problem", "problems"), healthy) //nolint:gosec // a count
	}
	if n := repairable(d); n > 0 && !c.repair {
		fmt.Fprintf(c.Env.Out, "%s can be repaired: candor workbench workrail doctor --repair\n", term.Count(uint64(n), "finding", "findings")) //nolint:gosec // a count
	}
}
