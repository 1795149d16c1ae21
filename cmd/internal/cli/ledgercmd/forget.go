package ledgercmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/internal/plug"
	"github.com/candor-mcp/candor/ledger"
	ledgerverify "github.com/candor-mcp/candor/ledger/verify"
)

// forgetCommand has the flags of `candor ledger forget`.
type forgetCommand struct {
	*ledgerCommand
	cmd       *cobra.Command
	file      string
	yes, json bool
}

func newForget(l *ledgerCommand) *cobra.Command {
	c := &forgetCommand{ledgerCommand: l}
	cmd := &cobra.Command{
		Use:   "forget [DIR]",
		Short: "Accept that chains were removed from a ledger on purpose",
		Long: `Accept that chains were removed from a ledger on purpose. The witness copy, a file of checkpoints outside the
ledger, records every chain. If a chain or the whole ledger is missing, verify reports FAILED and a workbench
refuses to start. This command removes the missing chains from the witness copy and keeps the previous file
beside it. Chains that are still in the folder stay protected.

The witness copy is the file for DIR in the state folder, even if DIR no longer exists, or a file that verify
prints; --witness-copy adds one. Do not name a file that several ledgers share: the chains of the other ledgers
are not in DIR and would be removed too.

The command lists the chains and asks before it changes anything.

Exit codes: 0 done, or nothing to do; 2 an error, or --yes is missing where the command cannot ask. With
--json it does not ask: the exit code is 0, and done is false.`,
		Example: `  candor ledger forget ./ledger
  candor ledger forget ./ledger --yes --json`,
		Args: term.MaxArgs(1, "candor ledger forget DIR"),
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	c.cmd = cmd
	service.WitnessCopyFlag(cmd, &c.file, "another witness copy")
	cmd.Flags().BoolVarP(&c.yes, "yes", "y", false, "do not ask for confirmation")
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON object; needs --yes to change anything")
	return cmd
}

// forgetReport is the output of `candor ledger forget --json`.
type forgetReport struct {
	Copies []forgetCopy `json:"witness_copies"`
	Done   bool         `json:"done"`
}

// forgetCopy is a witness copy with chains that are missing.
type forgetCopy struct {
	File    string   `json:"file"`
	Chains  []string `json:"chains"`
	Archive string   `json:"archive,omitempty"` // copy of the file before the change
}

func (c *forgetCommand) run(args []string) error {
	dir, err := c.named(args)
	if err != nil {
		return err
	}
	report, err := c.missing(dir)
	if err != nil {
		return err
	}
	if !c.json {
		c.explain(dir, report)
	}
	if len(report.Copies) > 0 {
		if err := c.confirmAndForget(report); err != nil {
			return err
		}
	}
	if c.json {
		return term.WriteJSONLine(c.env.Out, report)
	}
	return nil
}

func (c *forgetCommand) confirmAndForget(report *forgetReport) error {
	confirmed, err := c.env.Confirm(c.cmd, c.yes, c.json, "candor ledger forget --yes", "Forget them? verify will no longer report them.")
	if !confirmed {
		return err
	}
	return c.forget(report)
}

// missing finds the chains that are in a witness copy but not in the folder, which may be missing itself.
func (c *forgetCommand) missing(dir string) (*forgetReport, error) {
	options := ledgerverify.Options{OwnWitnessCopies: plug.WitnessCopies(dir, c.env.Getenv)}
	if c.file != "" {
		if _, err := os.Stat(c.file); err != nil {
			return nil, term.BadInput("name the file that candor ledger verify prints", "%s", err)
		}
		options.OwnWitnessCopies = append(options.OwnWitnessCopies, c.file)
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		empty, err := os.MkdirTemp("", "candor-ledger-")
		if err != nil {
			return nil, term.BadInput("make the folder for temporary files writable", "%s", err)
		}
		defer os.Remove(empty) //nolint:errcheck // an empty folder for temporary files
		dir = empty
	}
	verified, err := ledgerverify.Dir(c.cmd.Context(), dir, options)
	if err != nil {
		return nil, cannotRead(err)
	}
	report := &forgetReport{Copies: []forgetCopy{}}
	for _, h := range verified.Damage {
		if h.Kind != ledgerverify.KindMissingChain || h.File == "" {
			continue
		}
		i := slices.IndexFunc(report.Copies, func(p forgetCopy) bool { return p.File == h.File })
		if i < 0 {
			i = len(report.Copies)
			report.Copies = append(report.Copies, forgetCopy{File: h.File})
		}
		report.Copies[i].Chains = append(report.Copies[i].Chains, h.Chain)
	}
	return report, nil
}

func (c *forgetCommand) explain(dir string, r *forgetReport) {
	if len(r.Copies) == 0 {
		fmt.Fprintf(c.env.Out, "Nothing to forget: no witness copy has a chain that is missing in %s.\n", term.Printable(dir))
	}
	for _, p := range r.Copies {
		fmt.Fprintf(c.env.Out, "%s has %s missing in %s:\n", term.Printable(p.File), term.Count(uint64(len(p.Chains)), "chain that is", "chains that are"), term.Printable(dir))
		for _, chain := range p.Chains {
			fmt.Fprintf(c.env.Out, "  %s\n", chain)
		}
	}
}

func (c *forgetCommand) forget(r *forgetReport) error {
	for i := range r.Copies {
		p := &r.Copies[i]
		archive, err := ledger.Forget(p.File, p.Chains, c.env.Now())
		if err != nil {
			return term.BadInput("check that the file and its folder can be written", "%s", err)
		}
		p.Archive = archive
		if !c.json {
			fmt.Fprintf(c.env.Out, "forgotten: %s; the previous file is %s\n", term.Count(uint64(len(p.Chains)), "chain", "chains"), term.Printable(archive))
		}
	}
	r.Done = true
	return nil
}
