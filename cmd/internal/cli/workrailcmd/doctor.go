package workrailcmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail"
)

// doctorCommand holds the flags of `candor workbench workrail doctor`.
type doctorCommand struct {
	railCommand
	repair bool
}

func newRailDoctor(env *term.Env) *cobra.Command {
	c := &doctorCommand{railCommand: railCommand{env: env}}
	cmd := &cobra.Command{
		Use:   "doctor [ID…]",
		Short: "Check the health of all sessions, and repair what can be repaired",
		Long: `Read every session, or those that are named, and check all that they need: events against their digests, the stored copy of
the workflow, that the session stands at one of its steps, the keys of tokens, and what crashes left behind. Each problem is listed with its reason and what to do.

With --repair it says what it would do, asks, and does it:

  - a stored workflow that is missing or damaged is restored from the workflow file, in --workflows or among the examples, that has
    exactly the same content
  - keys that cannot be read are moved aside and replaced, and keys that others can read are closed to them
  - folders and files that a crash left behind are removed

Events are never changed: what is left of a damaged session is saved with export. Repairs are recorded in the trail. A server may be
running.

Exit code 0: everything is sound, or was repaired. Exit code 1: there are problems. Exit code 2: could not run.`,
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
	cmd.Flags().BoolVar(&c.repair, "repair", false, "repair what can be repaired")
	cmd.Flags().StringVar(&c.workflows, "workflows", "", "the folder of workflow files that the server uses, to restore stored workflows from")
	_ = cmd.MarkFlagDirname("workflows") // the flag is ours, so that marking it cannot fail
	return cmd
}

// doctorReport is what --json prints.
type doctorReport struct {
	*workrail.Diagnosis
	OK bool `json:"ok"`
}

func (c *doctorCommand) run(a *workrail.Admin, args []string) error {
	if c.yes && !c.repair {
		return term.BadInput("candor workbench workrail doctor --repair --yes", "--yes means nothing without --repair")
	}
	ids, err := c.findAll(a, args)
	if err != nil {
		return err
	}
	d, err := c.diagnose(a, ids)
	if err != nil {
		return err
	}
	if !c.json {
		for i := range d.Findings {
			c.show(&d.Findings[i])
		}
	}
	if c.repair {
		err = c.repairAll(a, d)
	}
	report := doctorReport{d, problems(d) == 0}
	if c.json {
		if e := term.WriteJSONLine(c.env.Out, report); e != nil {
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

// findAll returns the ids that a person means.
func (c *railCommand) findAll(a *workrail.Admin, typed []string) ([]string, error) {
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
	ctx, stop := term.StopContext(c.cmd)
	defer stop()
	show, clearLine := c.progress("checking session")
	d, err := a.Diagnose(ctx, ids, show)
	clearLine()
	if err != nil {
		return nil, railFault(err)
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
	paint := c.env.Colors()
	word := paint.Bad("problem")
	if f.Harmless {
		word = paint.Warn("note   ")
	}
	fmt.Fprintf(c.env.Out, "%s  %s", word, f.Kind)
	for i, id := range f.Sessions {
		if i == 5 {
			fmt.Fprintf(c.env.Out, "  and %d more", len(f.Sessions)-i)
			break
		}
		fmt.Fprintf(c.env.Out, "  %s", paint.Name(id))
	}
	if f.Workflow != "" {
		fmt.Fprintf(c.env.Out, "  %s", term.Printable(f.Workflow))
	}
	fmt.Fprintf(c.env.Out, "\n         %s\n", term.Printable(f.Message))
	if f.Repair != "" {
		fmt.Fprintf(c.env.Out, "         --repair: %s\n", f.Repair)
	}
	if f.Advice != "" {
		fmt.Fprintf(c.env.Out, "         %s\n", term.Printable(f.Advice))
	}
}

// repairAll repairs what can be repaired, if the person agrees. It stops between two repairs when it is interrupted.
func (c *doctorCommand) repairAll(a *workrail.Admin, d *workrail.Diagnosis) (err error) {
	n := repairable(d)
	if n == 0 {
		return nil
	}
	if err := c.asks(fmt.Sprintf("Do the %s above?", term.Count(uint64(n), "repair", "repairs"))); err != nil { //nolint:gosec // a count
		return err
	}
	trail, err := c.openTrail()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, trail.close()) }()
	ctx, stop := term.StopContext(c.cmd)
	defer stop()
	for i := range d.Findings {
		f := &d.Findings[i]
		if f.Repair == "" {
			continue
		}
		if ctx.Err() != nil {
			return railFault(ctx.Err())
		}
		whole := context.WithoutCancel(ctx)
		about := map[string]any{"kind": string(f.Kind), "found": f.Message, "repair": f.Repair}
		if err := trail.record(whole, "", about, func() error { return a.Repair(whole, f) }); err != nil {
			return railFault(fmt.Errorf("%s: %w", f.Kind, err))
		}
		if !c.json {
			fmt.Fprintf(c.env.Out, "%s %s\n", c.env.Colors().Good("repaired"), f.Kind)
		}
	}
	return nil
}

func (c *doctorCommand) sum(d *workrail.Diagnosis) {
	paint := c.env.Colors()
	bad := problems(d)
	healthy := fmt.Sprintf("%d of %s healthy", d.Healthy, term.Count(uint64(d.Sessions), "session is", "sessions are")) //nolint:gosec // a count
	if bad == 0 {
		fmt.Fprintf(c.env.Out, "%s: %s\n", paint.Good("OK"), healthy)
	} else {
		fmt.Fprintf(c.env.Out, "%s: %s; %s\n", paint.Bad("FAILED"), term.Count(uint64(bad), "problem", "problems"), healthy) //nolint:gosec // a count
	}
	if n := repairable(d); n > 0 && !c.repair {
		fmt.Fprintf(c.env.Out, "%s can be repaired: candor workbench workrail doctor --repair\n", term.Count(uint64(n), "finding", "findings")) //nolint:gosec // a count
	}
}
