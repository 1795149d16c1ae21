package ledgercmd

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/ledger"
)

// exportCommand holds the flags of `candor ledger export`.
type exportCommand struct {
	*ledgerCommand
	entryFilter
	format, out, since string
}

func newLedgerExport(l *ledgerCommand) *cobra.Command {
	c := &exportCommand{ledgerCommand: l}
	cmd := &cobra.Command{
		Use:   "export [DIR]",
		Short: "Write entries for other tools: JSON lines, CSV, OpenTelemetry or CEF",
		Long: `Write the entries of all chains, in the order of time, for other tools: jsonl is the lines as they are, csv has one row an
entry, otlp-json is OpenTelemetry logs, cef is the Common Event Format.`,
		Example: `  candor ledger export --format csv --out failures.csv --kind failure
  candor ledger export --format otlp-json --since 24h
  candor ledger export | jq .code`,
		Args: term.MaxArgs(1, "candor ledger export DIR"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(term.Context(cmd.Context()), cmd, args) },
	}
	c.register(cmd)
	cmd.Flags().StringVar(&c.format, "format", string(ledger.FormatJSONL), "what to write: "+term.JoinWords(formatNames()))
	cmd.Flags().StringVar(&c.out, "out", "", "a file to write to, which must not exist; standard output if not given")
	cmd.Flags().StringVar(&c.since, "since", "", "only what is not older, such as 15m, 24h or 7d")
	term.CompleteFlag(cmd, "format", formatNames())
	return cmd
}

func (c *exportCommand) run(ctx context.Context, cmd *cobra.Command, args []string) error {
	if err := c.check(); err != nil {
		return err
	}
	if !term.ContainsFold(formatNames(), c.format) {
		return term.Unknown("--format", c.format, formatNames())
	}
	r, since, err := c.readerSince(c.since, args)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // it was only read
	skipped := 0
	entries := r.Entries(ctx, ledger.ReadOptions{Since: since, Keep: c.keep(), Skipped: func(string, int64) { skipped++ }})
	write := func(w io.Writer) error {
		_, err := ledger.Export(w, ledger.Format(c.format), entries)
		return err
	}
	if err := term.WriteFileOrOutput(c.env, c.out, write); err != nil {
		return err
	}
	c.tellSkipped(cmd, skipped)
	return nil
}
