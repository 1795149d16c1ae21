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
		Use:   "export [DIR|URL]",
		Short: "Write entries for other tools: JSON lines, CSV, OpenTelemetry, CEF or Parquet",
		Long: `Write the entries of all chains, in order of time, for other tools: jsonl has the unchanged lines, csv one row per
entry, otlp-json OpenTelemetry logs, cef the Common Event Format. parquet is a compressed file of typed columns for
analysis; candor-cluster writes it.

The entries of a store that many nodes share are written node by node. Only parquet names the node of each entry.`,
		Example: `  candor ledger export --format csv --out failures.csv --kind failure
  candor ledger export --format otlp-json --since 24h
  candor ledger export | jq .code
  candor-cluster ledger export --format parquet --out failures.parquet`,
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
	if err := c.checkParquet(); err != nil {
		return err
	}
	ctx, stop := term.StopContext(cmd)
	defer stop()
	since, err := c.ledgerCommand.since(c.since)
	if err != nil {
		return err
	}
	source, err := c.source(ctx, args)
	if err != nil {
		return err
	}
	defer source.close() //nolint:errcheck // it was only read
	skipped := 0
	entries := source.entries(ctx, &c.entryFilter, since, func(string, int64) { skipped++ })
	write := func(w io.Writer) error {
		return c.write(ctx, w, entries)
	}
	if err := term.WriteFileOrOutput(c.env, c.out, write); err != nil {
		return err
	}
	c.warnSkipped(cmd, skipped)
	return nil
}

// formatParquet is the format that only candor-cluster writes.
const formatParquet = "parquet"

// checkParquet refuses Parquet if this program cannot write it, or would write it to a terminal.
func (c *exportCommand) checkParquet() error {
	if c.format != formatParquet {
		return nil
	}
	if c.env.Exporters[formatParquet] == nil {
		return term.NeedsCluster("writing Parquet")
	}
	if c.out == "" && c.env.Terminal {
		return term.BadInput("name a file: --out FILE", "a Parquet file cannot be shown on a terminal")
	}
	return nil
}

// write writes the entries. An export that was interrupted is an error, because its output looks complete.
func (c *exportCommand) write(ctx context.Context, w io.Writer, entries iter.Seq2[term.ExportLine, error]) error {
	var unreadable error
	readable := func(yield func(term.ExportLine, error) bool) {
		for l, err := range entries {
			if unreadable = err; !yield(l, err) {
				return
			}
		}
	}
	err := c.encode(w, readable)
	switch {
	case unreadable != nil:
		return cannotRead(unreadable)
	case err == nil && ctx.Err() != nil:
		return term.BadInput("run the command again", "interrupted; the export is not complete")
	}
	return err
}

// encode writes the entries in the format of the command.
func (c *exportCommand) encode(w io.Writer, entries iter.Seq2[term.ExportLine, error]) error {
	if c.format == formatParquet {
		return c.env.Exporters[formatParquet](w, entries)
	}
	_, err := ledgerexport.Write(w, ledgerexport.Format(c.format), func(yield func(*ledger.Line, error) bool) {
		for entry, err := range entries {
			if !yield(entry.Line, err) {
				return
			}
		}
	})
	return err
}
