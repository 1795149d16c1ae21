package ledgercmd

import (
	"context"
	"io"
	"iter"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/ledger"
	ledgerexport "github.com/candor-mcp/candor/ledger/export"
)

// exportCommand has the flags of `candor ledger export`.
type exportCommand struct {
	*ledgerCommand
	entryFilter
	format, out, since string
}

func newExport(l *ledgerCommand) *cobra.Command {
	c := &exportCommand{ledgerCommand: l}
	cmd := &cobra.Command{
		Use:   "export [DIR]",
		Short: "Write entries for other tools: JSON lines, CSV, OpenTelemetry or CEF",
		Long: `Write the entries of all chains, in order of time, for other tools: jsonl has the unchanged lines, csv one row per
entry, otlp-json OpenTelemetry logs, cef the Common Event Format.`,
		Example: `  candor ledger export --format csv --out failures.csv --kind failure
  candor ledger export --format otlp-json --since 24h
  candor ledger export | jq .code`,
		Args: term.MaxArgs(1, "candor ledger export DIR"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, args) },
	}
	c.register(cmd)
	cmd.Flags().StringVar(&c.format, "format", string(ledgerexport.FormatJSONL), "output format: "+term.JoinWords(formatNames()))
	cmd.Flags().StringVar(&c.out, "out", "", "file to create; default standard output")
	cmd.Flags().StringVar(&c.since, "since", "", "only entries not older than this, such as 15m, 24h or 7d")
	term.CompleteFlag(cmd, "format", formatNames())
	return cmd
}

func (c *exportCommand) run(cmd *cobra.Command, args []string) error {
	if err := c.check(); err != nil {
		return err
	}
	if !term.MatchFold(formatNames(), &c.format) {
		return term.Unknown("--format", c.format, formatNames())
	}
	ctx, stop := term.StopContext(cmd)
	defer stop()
	r, since, err := c.readerSince(c.since, args)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // it was only read
	keep, err := c.keep(ctx, r)
	if err != nil {
		return err
	}
	skipped := 0
	entries := r.Entries(ctx, ledger.ReadOptions{Since: since, Keep: keep, Skipped: func(string, int64) { skipped++ }})
	write := func(w io.Writer) error {
		return c.write(ctx, w, entries)
	}
	if err := term.WriteFileOrOutput(c.env, c.out, write); err != nil {
		return err
	}
	c.warnSkipped(cmd, skipped)
	return nil
}

// write writes the entries. An export that was interrupted is an error, because its output looks complete.
func (c *exportCommand) write(ctx context.Context, w io.Writer, entries iter.Seq2[*ledger.Line, error]) error {
	var unreadable error
	readable := func(yield func(*ledger.Line, error) bool) {
		for l, err := range entries {
			if unreadable = err; !yield(l, err) {
				return
			}
		}
	}
	_, err := ledgerexport.Write(w, ledgerexport.Format(c.format), readable)
	switch {
	case unreadable != nil:
		return cannotRead(unreadable)
	case err == nil && ctx.Err() != nil:
		return term.BadInput("run the command again", "interrupted; the export is not complete")
	}
	return err
}
