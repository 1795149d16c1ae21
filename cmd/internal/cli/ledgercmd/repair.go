package ledgercmd

import (
	"fmt"
	"log/slog"
	"slices"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/ledger"
	ledgerverify "github.com/candor-mcp/candor/ledger/verify"
)

// repairCommand has the flags of `candor ledger repair`.
type repairCommand struct {
	*ledgerCommand
	cmd       *cobra.Command
	keep      service.KeepFlags
	yes, json bool
}

func newRepair(l *ledgerCommand) *cobra.Command {
	c := &repairCommand{ledgerCommand: l}
	cmd := &cobra.Command{
		Use:   "repair [DIR]",
		Short: "Recover chains after a crash; entries are never changed",
		Long: `Recover chains whose writer crashed: an incomplete last line is moved to the chain's evidence folder, and a new
chain records that. Chains that are being written are left alone. No entry is ever changed or removed. Damage
is evidence and stays as it is.

The command prints what it found and would do, and asks before it changes anything.

Exit codes: 0 done, or nothing to do; 1 there is damage, which cannot be repaired; 2 an error, or --yes is missing
where the command cannot ask. With --json it does not ask: the exit code is 0, and done is false.`,
		Example: `  candor ledger repair ./ledger
  candor ledger repair ./ledger --yes --json`,
		Args: term.MaxArgs(1, "candor ledger repair DIR"),
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	c.cmd = cmd
	c.keep.RegisterCheckpoints(cmd)
	cmd.Flags().BoolVarP(&c.yes, "yes", "y", false, "do not ask for confirmation")
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON object; needs --yes to change anything")
	return cmd
}

// repairReport is the output of `candor ledger repair --json`.
type repairReport struct {
	Open   []repairChain         `json:"open"`
	Done   bool                  `json:"done"`
	Damage []ledgerverify.Damage `json:"damage"`
}

// repairChain is a chain that was not closed.
type repairChain struct {
	Chain   string `json:"chain"`
	Entries uint64 `json:"entries"`
	Torn    int64  `json:"torn"`
}

func (c *repairCommand) run(args []string) error {
	dir, err := c.folder(args)
	if err != nil {
		return err
	}
	before, err := ledgerverify.Dir(c.cmd.Context(), dir, c.verifyOptions(dir))
	if err != nil {
		return cannotRead(err)
	}
	report := repairReport{Open: []repairChain{}, Damage: before.Damage}
	for _, chain := range before.Chains {
		if !chain.Closed && chain.Recovered == "" && chain.Damage == nil {
			report.Open = append(report.Open, repairChain{chain.Chain, chain.Entries, chain.Torn})
		}
	}
	if !c.json {
		c.explain(&report)
	}
	if len(report.Open) > 0 {
		err = c.confirmAndFinish(dir, &report)
	}
	if err == nil && c.json {
		err = term.WriteJSONLine(c.env.Out, report)
	}
	if err == nil && len(report.Damage) > 0 {
		return term.Found()
	}
	return err
}

func (c *repairCommand) confirmAndFinish(dir string, report *repairReport) error {
	confirmed, err := c.env.Confirm(c.cmd, c.yes, c.json, "candor ledger repair --yes", "Recover them?")
	if !confirmed {
		return err
	}
	return c.finish(dir, report)
}

func (c *repairCommand) explain(r *repairReport) {
	for _, h := range r.Damage {
		fmt.Fprintf(c.env.Out, "FAILED  %s  %s\n        %s\n        Damage is evidence and is not repaired. The next writer begins a chain that refers to it.\n", h.Kind, location(h), term.Printable(h.Text))
	}
	if len(r.Open) == 0 {
		fmt.Fprintln(c.env.Out, "Nothing to repair: every chain was closed.")
		return
	}
	for _, chain := range r.Open {
		fmt.Fprintf(c.env.Out, "chain %s was not closed: %s", chain.Chain, term.Count(chain.Entries, "entry", "entries"))
		if chain.Torn > 0 {
			fmt.Fprintf(c.env.Out, ", then %d bytes of an incomplete line", chain.Torn)
		}
		fmt.Fprintln(c.env.Out)
	}
	fmt.Fprintln(c.env.Out, "Chains whose writer has gone will be recovered: incomplete bytes are moved to the chain's evidence folder, and a new chain\nrecords where each ended. Chains that are being written are left alone. No entry is changed.")
}

// finish opens the ledger, which recovers the chains.
func (c *repairCommand) finish(dir string, r *repairReport) error {
	options, err := c.keep.Options(dir, "repair", c.env.Getenv, slog.New(slog.NewTextHandler(c.env.Err, nil)))
	if err != nil {
		return err
	}
	options.RetainAge, options.RetainBytes, options.Compress = 0, 0, false // repair removes nothing
	l, err := ledger.Open(dir, options)
	if err == nil {
		err = l.Close()
	}
	if err != nil {
		return term.BadInput("check that the folder can be written", "recovering: %s", term.Cause(err))
	}
	after, err := ledgerverify.Dir(c.cmd.Context(), dir, c.verifyOptions(dir))
	if err != nil {
		return cannotRead(err)
	}
	r.Done, r.Damage = true, after.Damage
	if !c.json {
		for _, chain := range after.Chains {
			if chain.Recovered != "" && slices.ContainsFunc(r.Open, func(o repairChain) bool { return o.Chain == chain.Chain }) {
				fmt.Fprintf(c.env.Out, "recovered %s with %s, recorded in %s\n", chain.Chain, term.Count(chain.Entries, "entry", "entries"), chain.Recovered)
			}
		}
	}
	return nil
}
