package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/workbench/harness"
)

// harnessDomains holds the flags of `candor workbench harness domains`.
type harnessDomains struct {
	benchFlags
	w       *world
	domains []string
	output  choice
	methods bool
}

func newHarnessDomains(w *world) *cobra.Command {
	c := &harnessDomains{w: w}
	cmd := &cobra.Command{
		Use:   "domains",
		Short: "List the domains: on or off, healthy or what to install, methods and codes",
		Long: `List every domain of the harness with the same flags and variables as the server: whether it is on, whether it can work, what
it needs, and with --methods its methods and the codes that each can return. Nothing is started.

Exit code 0: every domain that is on can work. Exit code 1: one cannot. Exit code 2: a flag is wrong, or a variable of the harness or
of a domain that is on.`,
		Example: `  candor workbench harness domains --methods
  MCP_DOMAINS=all candor workbench harness domains --json`,
		Args: atMost(0, "candor workbench harness domains"),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.registerState(cmd)
	cmd.Flags().StringArrayVar(&c.domains, "domain", nil, "a domain to switch on, or all; may be repeated")
	complete(cmd, "domain", append([]string{"all"}, harness.Names()...))
	cmd.Flags().BoolVar(&c.methods, "methods", false, "list the methods of each domain and the codes that each can return")
	c.output.register(cmd, "text", "json")
	return cmd
}

func (c *harnessDomains) run(cmd *cobra.Command) error {
	format, err := c.output.pick(cmd)
	if err != nil {
		return err
	}
	settings, err := harnessSettings(c.w, c.domains)
	if err != nil {
		return err
	}
	state, err := c.openState(c.w, harness.SystemName)
	if err != nil {
		return err
	}
	defer state.Close() //nolint:errcheck // nothing is written
	list := harness.Inspect(orBackground(cmd.Context()), settings,
		harness.Environment{Getenv: c.w.getenv, State: state.Dir(), Guard: guardLine(), Logger: (&plugFlags{quiet: true}).logger(c.w.err)})
	if format == "json" {
		err = json.NewEncoder(c.w.out).Encode(map[string]any{"domains": list})
	} else {
		c.show(list)
	}
	if err != nil {
		return err
	}
	return verdictOn(list)
}

// verdictOn returns the error of the first domain that is on and has a wrong variable, with which the server would not start. Without
// one it returns the failure of a command that has found something if a domain that is on cannot work.
func verdictOn(list []harness.Description) (err error) {
	for i := range list {
		switch d := &list[i]; {
		case !d.On:
		case d.Err() != nil:
			return bad("see docs/harness.md", "%s: %s", d.Name, d.Err())
		case !d.Health.OK:
			err = found()
		}
	}
	return err
}

func (c *harnessDomains) show(list []harness.Description) {
	p := c.w.paint()
	width := 0
	for i := range list {
		width = max(width, len(list[i].Name))
	}
	for i := range list {
		d := &list[i]
		state := p.faint("off")
		if d.On {
			state = p.good("on ")
		}
		health := "OK"
		if !d.Health.OK {
			health = p.warn(d.Health.Details)
		}
		fmt.Fprintf(c.w.out, "%s  %s  %s\n", p.name(pad(d.Name, width)), state, health)
		if !c.methods {
			continue
		}
		fmt.Fprintf(c.w.out, "  %s\n", d.About)
		for _, m := range d.Methods {
			fmt.Fprintf(c.w.out, "    %s: %s\n", p.bold(m.Name), m.About)
			if len(m.Codes) > 0 {
				fmt.Fprintf(c.w.out, "      %s\n", p.faint(strings.Join(m.Codes, ", ")))
			}
		}
	}
	if !c.methods {
		fmt.Fprintln(c.w.out, "\nSwitch a domain on with --domain NAME or MCP_DOMAINS; --methods lists methods and codes.")
	}
}
