// Package consolecmd has the command candor console, and serves the console of other commands.
package consolecmd

import (
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/ledgercmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// consoleCommand has the flags of `candor console`.
type consoleCommand struct {
	env      *term.Env
	cmd      *cobra.Command
	ledger   string
	listen   string
	tokenEnv string
	hosts    []string
	profiles string
	noVerify bool
}

// New returns the command candor console.
func New(env *term.Env) *cobra.Command {
	c := &consoleCommand{env: env}
	cmd := &cobra.Command{
		Use:   "console [DIR | URL]",
		Short: "Serve pages that show what failed, where and why",
		Long: `Serve pages about the failures in a ledger, for a browser: the list with filters and charts, one failure with what
the server said and what the client got, and whether the record is whole. The address of a page has its filters, so that
it can be sent to a colleague. The ledger may be written at the same time.

By default it listens only on this machine, on a free port. It prints a link that logs one browser in, once: other
users of the machine can connect, but read nothing. With --token-env a browser can also log in with the token, and
programs send it as Authorization: Bearer; an address that other machines can reach needs it. The token is never part
of an address.

With --profiles the page of a tool proposes rules for answers that are only suspected to be failures, as candor learn
does, and writes them to DIR/SERVER.yaml after showing the change.

DIR is the folder of the ledger; default is the environment variable CANDOR_LEDGER, else candor/ledger in the user's
state folder. URL is the store that many nodes share: file:DIR, nats://…, tls://… or postgres://…. Then the pages show
the failures of all nodes. Except for file:DIR, the store is first copied to the folder candor/fleet in the user's state
folder, and the copy is kept current; the next start copies only what is new. Ctrl-C ends the command.

Exit codes: 0 ended by Ctrl-C or SIGTERM; 2 an error.`,
		Example: `  candor console
  candor console ./trail --listen 127.0.0.1:8767
  candor console --ledger file:/srv/fleet
  candor console --profiles ./profiles`,
		Args: term.MaxArgs(1, "candor console DIR"),
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	c.cmd = cmd
	flags := cmd.Flags()
	flags.StringVar(&c.ledger, "ledger", "", "folder of the ledger, or URL of the store of many nodes; the same as the argument")
	flags.StringVar(&c.listen, "listen", DefaultListen, "address of the pages; port 0 is a free one")
	flags.StringVar(&c.tokenEnv, "token-env", "", "environment variable with a token, to log in more than once and for programs")
	flags.StringArrayVar(&c.hosts, "host", nil, "host name under which browsers may open the pages; may be repeated")
	flags.StringVar(&c.profiles, "profiles", "", "folder of the profiles to which rules are written; default none")
	flags.BoolVar(&c.noVerify, "no-verify", false, "do not verify the ledger at the start")
	return cmd
}

func (c *consoleCommand) run(args []string) error {
	if c.ledger != "" {
		if len(args) > 0 && args[0] != c.ledger {
			return term.BadInput("leave one of them out", "two ledgers given: %s and %s", c.ledger, args[0])
		}
		args = []string{c.ledger}
	}
	o, err := c.options()
	if err != nil {
		return err
	}
	ctx, stop := term.StopContext(c.cmd)
	defer stop()
	if url := c.storeURL(args); url != "" {
		return c.runFleet(ctx, url, o)
	}
	if o.Dir, err = ledgercmd.Folder(c.env, args, "candor console DIR"); err != nil {
		return err
	}
	o.Verify = !c.noVerify
	return c.serve(ctx, o, func(*Running) error {
		<-ctx.Done()
		return nil
	})
}

// options returns the options that the flags set.
func (c *consoleCommand) options() (o Options, err error) {
	o = Options{Listen: c.listen, Hosts: c.hosts, Log: slog.New(slog.NewTextHandler(c.env.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	if o.Token, err = c.env.Secret("--token-env", c.tokenEnv); err != nil {
		return o, err
	}
	if c.profiles != "" {
		if info, err := os.Stat(c.profiles); err != nil || !info.IsDir() {
			return o, term.BadInput("create the folder, or choose another one", "--profiles %s: not a folder", c.profiles)
		}
		o.Profiles = ProfileFolder(term.AbsolutePath(c.profiles))
	}
	return o, nil
}
