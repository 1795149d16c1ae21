package harnesscmd

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/bench"
	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
)

// harnessDomains has the flags of `candor workbench harness domains`.
type harnessDomains struct {
	bench.StateFlags
	env     *term.Env
	domains []string
	output  term.FormatFlag
	methods bool
}

func newHarnessDomains(env *term.Env) *cobra.Command {
	c := &harnessDomains{env: env}
	cmd := &cobra.Command{
		Use:   "domains",
		Short: "List the domains with state, health, methods and codes",
		Long: `List every domain of the harness, with the same flags and variables as the server: whether it is enabled, whether it works, what
is missing, and with --methods its methods and their codes. Nothing is started.

Exit codes: 0 every enabled domain works; 1 one does not; 2 a flag is wrong, or a variable of the harness or of an enabled domain.`,
		Example: `  candor workbench harness domains --methods
  MCP_DOMAINS=all candor workbench harness domains --json`,
		Args: term.MaxArgs(0, "candor workbench harness domains"),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.RegisterState(cmd)
	cmd.Flags().StringArrayVar(&c.domains, "domain", nil, "domain to enable, or all; may be repeated")
	term.CompleteFlag(cmd, "domain", append([]string{"all"}, harness.Names()...))
	cmd.Flags().BoolVar(&c.methods, "methods", false, "list the methods of each domain and the codes that each can return")
	c.output.Register(cmd, "text", "json")
	return cmd
}

func (c *harnessDomains) run(cmd *cobra.Command) error {
	format, err := c.output.Value(cmd)
	if err != nil {
		return err
	}
	settings, err := harnessSettings(c.env, c.domains)
	if err != nil {
		return err
	}
	state, err := c.OpenState(c.env, harness.SystemName)
	if err != nil {
		return err
	}
	defer state.Close() //nolint:errcheck // nothing is written
	list := harness.Inspect(cmd.Context(), settings,
		domain.Environment{Getenv: c.env.Getenv, State: state.Dir(), Guard: term.GuardCommand(), Logger: (&service.Flags{Quiet: true}).Logger(c.env.Err)})
	if format == "json" {
		err = json.NewEncoder(c.env.Out).Encode(map[string]any{"domains": list})
	} else {
		c.show(list)
	}
	if err != nil {
		return err
	}
	return verdictOn(list)
}

// verdictOn returns the error of the first enabled domain with a wrong variable, since the server would not start. Otherwise it returns
// [term.Found] if an enabled domain does not work.
func verdictOn(list []harness.Description) (err error) {
	for i := range list {
		switch d := &list[i]; {
		case !d.On:
		case d.Err() != nil:
			return term.BadInput("see docs/harness.md", "%s: %s", d.Name, d.Err())
		case !d.Health.OK:
			err = term.Found()
		}
	}
	return err
}

func (c *harnessDomains) show(list []harness.Description) {
	p := c.env.Colors()
	width := 0
	for i := range list {
		width = max(width, len(list[i].Name))
	}
	for i := range list {
		d := &list[i]
		state := p.Faint("off")
		if d.On {
			state = p.Good("on ")
		}
		health := "OK"
		if !d.Health.OK {
			health = p.Warn(d.Health.Details)
		}
		fmt.Fprintf(c.env.Out, "%s  %s  %s\n", p.Name(term.Pad(d.Name, width)), state, health)
		if !c.methods {
			continue
		}
		fmt.Fprintf(c.env.Out, "  %s\n", d.About)
		for _, m := range d.Methods {
			fmt.Fprintf(c.env.Out, "    %s: %s\n", p.Bold(m.Name), m.About)
			if len(m.Codes) > 0 {
				fmt.Fprintf(c.env.Out, "      %s\n", p.Faint(strings.Join(m.Codes, ", ")))
			}
		}
	}
	if !c.methods {
		fmt.Fprintln(c.env.Out, "\nEnable a domain with --domain NAME or MCP_DOMAINS; --methods lists methods and codes.")
	}
}
