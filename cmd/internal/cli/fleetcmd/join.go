package fleetcmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// joinCommand has the flags of `candor fleet join`.
type joinCommand struct {
	env   *term.Env
	check bool
	json  bool
}

func newJoin(env *term.Env) *cobra.Command {
	c := &joinCommand{env: env}
	cmd := &cobra.Command{
		Use:   "join NODE URL",
		Short: "Print the least rights that a node needs, or check them",
		Long: `Print the least rights that a node needs to append to its own chains, as text for the configuration of the store.
A node with these rights cannot change or remove entries, and cannot append to the chains of other nodes.

With --check it tries, with the credentials in the URL, what the node must and must not be able to do, and prints
a table. Nothing is changed in the store. Use the credentials of the node for it.

Exit codes: 0 printed, or all rights are right; 1 a right is wrong; 2 the check could not run.`,
		Example: `  candor-cluster fleet join web-1 nats://nats-1:4222
  candor-cluster fleet join web-1 'nats://nats-1:4222?node=web-1&creds=web-1.creds' --check`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return term.BadInput("candor fleet join web-1 nats://HOST:4222", "give the name of a node and the URL of a store")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args[0], args[1]) },
	}
	cmd.Flags().BoolVar(&c.check, "check", false, "try what the node may do, with the credentials in the URL")
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON object")
	return cmd
}

// joinReport is the output of `candor fleet join --json`.
type joinReport struct {
	Node   string             `json:"node"`
	Grant  string             `json:"grant,omitempty"`
	OK     *bool              `json:"ok,omitempty"`
	Rights []fleet.RightCheck `json:"rights,omitempty"`
}

func (c *joinCommand) run(ctx context.Context, node, url string) error {
	if !fleet.ValidNode(node) {
		return term.BadInput("up to 64 letters, digits, hyphens and underscores, such as web-1", "%q: not the name of a node", node)
	}
	store, _, err := c.env.OpenStore(ctx, url)
	if err != nil {
		return err
	}
	defer store.Close() //nolint:errcheck // nothing is pending
	if c.check {
		return c.checkRights(ctx, store, node)
	}
	grant, err := store.Grant(node)
	if err != nil {
		return term.StoreError(err)
	}
	if c.json {
		return term.WriteJSONLine(c.env.Out, joinReport{Node: node, Grant: grant})
	}
	_, err = fmt.Fprint(c.env.Out, grant)
	return err
}

func (c *joinCommand) checkRights(ctx context.Context, store fleet.Store, node string) error {
	rights, err := store.CheckRights(ctx, node)
	if err != nil {
		return term.StoreError(err)
	}
	ok := true
	for _, r := range rights {
		ok = ok && r.OK()
	}
	if c.json {
		err = term.WriteJSONLine(c.env.Out, joinReport{Node: node, OK: &ok, Rights: rights})
	} else {
		c.writeRights(rights)
	}
	if err == nil && !ok {
		return term.Found()
	}
	return err
}

func (c *joinCommand) writeRights(rights []fleet.RightCheck) {
	p := c.env.Colors()
	width := 0
	for _, r := range rights {
		width = max(width, len([]rune(term.Printable(r.What))))
	}
	for _, r := range rights {
		verdict := p.Good("OK    ")
		if !r.OK() {
			verdict = p.Bad("FAILED")
		}
		line := fmt.Sprintf("%s  %s  %s, must be %s", verdict, term.Pad(term.Printable(r.What), width), allowedWord(r.Allowed), allowedWord(r.Want))
		if r.Detail != "" {
			line += "  " + p.Faint(term.Printable(r.Detail))
		}
		fmt.Fprintln(c.env.Out, line)
	}
}

func allowedWord(allowed bool) string {
	if allowed {
		return "allowed"
	}
	return "refused"
}
