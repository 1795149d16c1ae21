package workrailcmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/bench"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/token"
)

// keysCommand has the flags of `candor workbench workrail rotate-keys`.
type keysCommand struct {
	adminCommand
	retire bool
}

func newKeys(env *term.Env) *cobra.Command {
	c := &keysCommand{adminCommand: adminCommand{Operator: bench.Operator{Env: env}}}
	cmd := &cobra.Command{
		Use:   "rotate-keys",
		Short: "Create a new key for tokens, or retire the old ones",
		Long: `Create a new key that signs tokens from now on. Tokens of earlier keys are still accepted, so running agents are not
disturbed. With --retire no key is created: all keys but the newest are deleted, and their tokens are refused
with TOKEN_BAD_SIGNATURE. An agent with such a token gets a new one with resume_session.

To replace a key that may have leaked, run the command without --retire and then with it. Both are recorded in the ledger.

Exit codes: 0 done; 1 not confirmed, or there is no old key; 2 an error.`,
		Example: `  candor workbench workrail rotate-keys
  candor workbench workrail rotate-keys --retire --yes`,
		Args: term.MaxArgs(0, "candor workbench workrail rotate-keys"),
		RunE: func(*cobra.Command, []string) error { return c.with(c.run) },
	}
	c.register(cmd)
	c.registerYes(cmd)
	cmd.Flags().Lookup("json").Usage = "print one JSON object; needs --yes with --retire"
	cmd.Flags().BoolVar(&c.retire, "retire", false, "delete all keys but the newest; tokens of the others are refused")
	return cmd
}

// keysReport is the output of --json.
type keysReport struct {
	Keys    []token.KeyInfo `json:"keys"`
	Retired int             `json:"retired"`
}

func (c *keysCommand) run(a *workrail.Admin) error {
	if c.retire {
		return c.runRetire(a)
	}
	var report keysReport
	err := c.recorded("rotate", func() (err error) {
		report.Keys, err = a.RotateKeys()
		return err
	})
	if err != nil {
		return keysError(err)
	}
	return c.write(report)
}

func (c *keysCommand) runRetire(a *workrail.Admin) error {
	keys, err := a.Keys()
	if err != nil {
		return keysError(err)
	}
	if len(keys) < 2 {
		if c.JSON {
			if err := term.WriteJSONLine(c.Env.Out, keysReport{Keys: keys}); err != nil {
				return err
			}
		}
		return &term.Error{Code: term.ExitFound, Text: "there is no old key; nothing was changed", Hint: "create a new key with candor workbench workrail rotate-keys"}
	}
	if !c.JSON {
		c.list(keys)
	}
	if err := c.Confirm(fmt.Sprintf("Delete %s? Their tokens will be refused.", term.Count(uint64(len(keys)-1), "old key", "old keys"))); err != nil { //nolint:gosec // a count
		return err
	}
	var report keysReport
	err = c.recorded("retire", func() (err error) {
		report.Keys, report.Retired, err = a.RetireKeys()
		return err
	})
	if err != nil {
		return keysError(err)
	}
	return c.write(report)
}

// recorded changes the keys and records it in the ledger.
func (c *keysCommand) recorded(action string, change func() error) (err error) {
	log, err := c.openLog()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.close()) }()
	return log.record(c.Cmd.Context(), "", map[string]any{"action": action}, change)
}

func keysError(err error) error {
	var already *term.Error
	if errors.As(err, &already) {
		return already
	}
	return term.BadInput("run candor workbench workrail doctor; --retire makes space for new keys", "token keys: %s", err)
}

func (c *keysCommand) write(r keysReport) error {
	if c.JSON {
		return term.WriteJSONLine(c.Env.Out, r)
	}
	if r.Retired > 0 {
		fmt.Fprintf(c.Env.Out, "%s %s\n", c.Env.Colors().Good("retired"), term.Count(uint64(r.Retired), "key", "keys"))
	}
	c.list(r.Keys)
	return nil
}

func (c *keysCommand) list(keys []token.KeyInfo) {
	for _, k := range keys {
		use := "accepted"
		if k.Signing {
			use = c.Env.Colors().Good("signs") + "   "
		}
		fmt.Fprintf(c.Env.Out, "key %d  %s  created %s\n", k.ID, use, bench.Stamp(k.Made))
	}
}
