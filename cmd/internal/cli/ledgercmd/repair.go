package ledgercmd

import (
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/ledger"
)

// repairCommand holds the flags of `candor ledger repair`.
type repairCommand struct {
	*ledgerCommand
	cmd       *cobra.Command
	keep      service.KeepFlags
	yes, json bool
}

func newLedgerRepair(l *ledgerCommand) *cobra.Command {
	c := &repairCommand{ledgerCommand: l}
	cmd := &cobra.Command{
		Use:   "repair [DIR]",
		Short: "Finish what a crash left open; entries are never changed",
		Long: `Finish what a crash left open: half a line behind the end of a chain whose writer is gone is moved to the chain's evidence folder
and cut off, and a new chain records that. Chains that are being written are left alone. No entry is ever
changed or removed, and harm stays where it is: it is evidence.

It says what it found and what it would do, and asks before it does it. Exit code 1: there is harm that no repair can undo.`,
		Example: `  candor ledger repair ./ledger
  candor ledger repair ./ledger --yes --json`,
		Args: term.MaxArgs(1, "candor ledger repair DIR"),
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	c.cmd = cmd
	c.keep.RegisterCheckpoints(cmd)
	cmd.Flags().BoolVarP(&c.yes, "yes", "y", false, "do it without asking")
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON object; needs --yes to change anything")
	return cmd
}

// repairReport is what `candor ledger repair --json` prints.
type repairReport struct {
	Open  []repairChain `json:"open"`
	Done  bool          `json:"done"`
	Harms []ledger.Harm `json:"harms"`
}

// repairChain is a chain that was not ended.
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
	before, err := ledger.Verify(dir, c.verifyOptions(dir))
	if err != nil {
		return cannotRead(err)
	}
	report := repairReport{Open: []repairChain{}, Harms: before.Harms}
	for _, chain := range before.Chains {
		if !chain.Closed && chain.Recovered == "" && chain.Harm == nil {
			report.Open = append(report.Open, repairChain{chain.Chain, chain.Entries, chain.Torn})
		}
	}
	if !c.json {
		c.explain(&report)
	}
	if len(report.Open) > 0 && c.agreed() {
		if err := c.finish(dir, &report); err != nil {
			return err
		}
	}
	if c.json {
		err = term.WriteJSONLine(c.env.Out, report)
	}
	if err == nil && len(report.Harms) > 0 {
		return term.Found()
	}
	return err
}

func (c *repairCommand) explain(r *repairReport) {
	for _, h := range r.Harms {
		fmt.Fprintf(c.env.Out, "harm  %s  %s\n      %s\n      It stays as it is: it is evidence. The next writer begins a chain that names it.\n", h.Kind, harmPlace(h), term.Printable(h.Text))
	}
	if len(r.Open) == 0 {
		fmt.Fprintln(c.env.Out, "Nothing to finish: every chain was ended.")
		return
	}
	for _, chain := range r.Open {
		fmt.Fprintf(c.env.Out, "chain %s was not ended: %s", chain.Chain, term.Count(chain.Entries, "entry", "entries"))
		if chain.Torn > 0 {
			fmt.Fprintf(c.env.Out, ", then %d bytes of a line that was never finished", chain.Torn)
		}
		fmt.Fprintln(c.env.Out)
	}
	fmt.Fprintln(c.env.Out, "Those whose writers are gone would be recovered: unfinished bytes moved to the chain's evidence folder, and a new chain that\nrecords where each ended. Chains that are being written are left alone. No entry is changed.")
}

func (c *repairCommand) agreed() bool {
	return c.yes || term.Confirm(c.env, c.cmd, c.json, "candor ledger repair --yes does it", "Do it?")
}

// finish lets the ledger recover by opening it, which is all that a repair may do.
func (c *repairCommand) finish(dir string, r *repairReport) error {
	l, err := ledger.Open(dir, c.keep.Options(dir, "repair", c.env.Getenv, slog.New(slog.NewTextHandler(c.env.Err, nil))))
	if err == nil {
		err = l.Close()
	}
	if err != nil {
		return term.BadInput("check that the folder can be written", "recovering: %s", term.Cause(err))
	}
	after, err := ledger.Verify(dir, c.verifyOptions(dir))
	if err != nil {
		return cannotRead(err)
	}
	r.Done, r.Harms = true, after.Harms
	if !c.json {
		for _, chain := range after.Chains {
			if chain.Recovered != "" && wasOpen(r, chain.Chain) {
				fmt.Fprintf(c.env.Out, "recovered %s with %s, recorded in %s\n", chain.Chain, term.Count(chain.Entries, "entry", "entries"), chain.Recovered)
			}
		}
	}
	return nil
}

func wasOpen(r *repairReport, chain string) bool {
	for _, o := range r.Open {
		if o.Chain == chain {
			return true
		}
	}
	return false
}
