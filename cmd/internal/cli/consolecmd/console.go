// Package consolecmd has the command candor console, and serves the console of other commands.
package consolecmd

import (
	"crypto/rand"
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
	reports  string
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

By default it listens only on this machine, on a free port, and prints the address. An address that other machines can
reach needs --token-env; then the token is required for reading too. The token is sent as Authorization: Bearer, or
typed at /login. It is never part of an address.

With --profiles the page of a tool proposes rules for answers that are only suspected to be failures, as candor learn
does, and writes them to DIR/SERVER.yaml after showing the change. That requires the token; without --token-env a new
one is printed at the start.

DIR is the folder of the ledger; default is the environment variable CANDOR_LEDGER, else candor/ledger in the user's
state folder. URL is the store that many nodes share: file:DIR, nats://…, tls://… or postgres://…. Then the pages show
the failures of all nodes. Except for file:DIR, the store is first copied to the folder candor/fleet in the user's state
folder, and the copy is kept current; the next start copies only what is new. Ctrl-C ends the command.

Exit codes: 0 ended by Ctrl-C or SIGTERM; 2 an error.`,
		Example: `  candor console
  candor console ./trail --listen 127.0.0.1:8767
  candor console --ledger file:/srv/fleet
  candor console --profiles ./profiles --reports ./reports`,
		Args: term.MaxArgs(1, "candor console DIR"),
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	c.cmd = cmd
	flags := cmd.Flags()
	flags.StringVar(&c.ledger, "ledger", "", "folder of the ledger, or URL of the store of many nodes; the same as the argument")
	flags.StringVar(&c.listen, "listen", DefaultListen, "address of the pages; port 0 is a free one")
	flags.StringVar(&c.tokenEnv, "token-env", "", "environment variable with the token that allows changes")
	flags.StringArrayVar(&c.hosts, "host", nil, "host name under which browsers may open the pages; may be repeated")
	flags.StringVar(&c.profiles, "profiles", "", "folder of the profiles to which rules are written; default none")
	flags.StringVar(&c.reports, "reports", "", "folder with reports of candor probe --format json to show")
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
	o, generated, err := c.options()
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
		if generated {
			c.env.Notify(c.cmd, "token for changes: "+o.Token, "")
		}
		<-ctx.Done()
		return nil
	})
}

// options returns the options that the flags set. It reports whether it has generated a token.
func (c *consoleCommand) options() (o Options, generated bool, err error) {
	o = Options{Listen: c.listen, Hosts: c.hosts, Reports: c.reports, Log: slog.New(slog.NewTextHandler(c.env.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	if c.tokenEnv != "" {
		if o.Token = c.env.Getenv(c.tokenEnv); o.Token == "" {
			return o, false, term.BadInput("export "+c.tokenEnv+" before the start", "--token-env %s: not set", c.tokenEnv)
		}
	}
	for flag, folder := range map[string]string{"--profiles": c.profiles, "--reports": c.reports} {
		if info, err := os.Stat(folder); folder != "" && (err != nil || !info.IsDir()) {
			return o, false, term.BadInput("create the folder, or choose another one", "%s %s: not a folder", flag, folder)
		}
	}
	if c.profiles != "" {
		o.Profiles = ProfileFolder(term.AbsolutePath(c.profiles))
		if o.Token == "" {
			o.Token, generated = rand.Text(), true
		}
	}
	return o, generated, nil
}
