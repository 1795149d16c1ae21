package workrailcmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/token"
)

// railKeysCommand holds the flags of `candor workbench workrail rotate-keys`.
type railKeysCommand struct {
	railCommand
	retire bool
}

func newRailKeys(env *term.Env) *cobra.Command {
	c := &railKeysCommand{railCommand: railCommand{env: env}}
	cmd := &cobra.Command{
		Use:   "rotate-keys",
		Short: "Make a new key for tokens, or retire the old ones",
		Long: `Make a new key, which signs tokens from now on. Tokens that were signed with earlier keys are still accepted, so that running
agents notice nothing. With --retire no key is made: all keys but the newest are forgotten, and their tokens are
refused with TOKEN_BAD_SIGNATURE. An agent that holds such a token gets a new one with resume_session.

To replace a key that may have leaked, run the command without --retire and then with it. Both are recorded in the trail.

Exit code 0: it was done. Exit code 1: you said no, or there is no old key. Exit code 2: it could not be done.`,
		Example: `  candor workbench workrail rotate-keys
  candor workbench workrail rotate-keys --retire --yes`,
		Args: term.MaxArgs(0, "candor workbench workrail rotate-keys"),
		RunE: func(*cobra.Command, []string) error { return c.with(c.run) },
	}
	c.register(cmd)
	c.registerYes(cmd)
	cmd.Flags().Lookup("json").Usage = "print one JSON object; needs --yes with --retire"
	cmd.Flags().BoolVar(&c.retire, "retire", false, "forget all keys but the newest; tokens of the others are refused")
	return cmd
}

// keysReport is what --json prints.
type keysReport struct {
	Keys    []token.KeyInfo `json:"keys"`
	Retired int             `json:"retired"`
}

func (c *railKeysCommand) run(a *workrail.Admin) error {
	if c.retire {
		return c.runRetire(a)
	}
	var report keysReport
	err := c.recorded("rotate", func() (err error) {
		report.Keys, err = a.RotateKeys()
		return err
	})
	if err != nil {
		return keysFault(err)
	}
	return c.write(report)
}

func (c *railKeysCommand) runRetire(a *workrail.Admin) error {
	keys, err := a.Keys()
	if err != nil {
		return keysFault(err)
	}
	if len(keys) < 2 {
		if c.json {
			if err := term.WriteJSONLine(c.env.Out, keysReport{Keys: keys}); err != nil {
				return err
			}
		}
		return &term.Error{Code: term.ExitFound, Text: "there is no old key; nothing was changed", Hint: "candor workbench workrail rotate-keys makes a new one"}
	}
	if !c.json {
		c.list(keys)
	}
	if err := c.asks(fmt.Sprintf("Forget %s? Their tokens are refused then.", term.Count(uint64(len(keys)-1), "old key", "old keys"))); err != nil { //nolint:gosec // a count
		return err
	}
	var report keysReport
	err = c.recorded("retire", func() (err error) {
		report.Keys, report.Retired, err = a.RetireKeys()
		return err
	})
	if err != nil {
		return keysFault(err)
	}
	return c.write(report)
}

// recorded changes the keys and records it in the trail.
func (c *railKeysCommand) recorded(action string, change func() error) (err error) {
	trail, err := c.openTrail()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, trail.close()) }()
	return trail.record(term.Context(c.cmd.Context()), "", map[string]any{"action": action}, change)
}

func keysFault(err error) error {
	var already *term.Error
	if errors.As(err, &already) {
		return already
	}
	return term.BadInput("candor workbench workrail doctor says what is wrong; --retire makes room for new keys", "the keys of tokens: %s", err)
}

func (c *railKeysCommand) write(r keysReport) error {
	if c.json {
		return term.WriteJSONLine(c.env.Out, r)
	}
	if r.Retired > 0 {
		fmt.Fprintf(c.env.Out, "%s %s\n", c.env.Colors().Good("retired"), term.Count(uint64(r.Retired), "key", "keys"))
	}
	c.list(r.Keys)
	return nil
}

func (c *railKeysCommand) list(keys []token.KeyInfo) {
	for _, k := range keys {
		use := "accepted"
		if k.Signing {
			use = c.env.Colors().Good("signs") + "   "
		}
		fmt.Fprintf(c.env.Out, "key %d  %s  made %s\n", k.ID, use, stamped(k.Made))
	}
}
