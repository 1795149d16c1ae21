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
	command
	entryFilter
	format, out string
}

func newExport(shared command) *cobra.Command {
	c := &exportCommand{command: shared}
	cmd := &cobra.Command{
		Use:   "export [DIR|URL]",
		Short: "Write entries for other tools: JSON lines, CSV, OpenTelemetry or Parquet",
		Long: `Write the entries of all chains, in order of time, for other tools: jsonl has the unchanged lines, csv one row per
entry, otlp-json OpenTelemetry logs. parquet is a compressed file of typed columns for analysis; candor-cluster
writes it.

The entries of a store that many nodes share are written node by node. Only parquet names the node of each entry.`,
		Example: `  candor ledger export --format csv --out failures.csv --kind failure
  candor ledger export --format otlp-json --since 24h
  candor ledger export | jq .code
  candor-cluster ledger export --format parquet --out failures.parquet`,
		Args: term.MaxArgs(1, "candor ledger export DIR"),
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	c.cmd = cmd
	c.register(cmd)
	c.registerSince(cmd)
	term.Choice(cmd, &c.format, "format", "jsonl", "output format: "+term.JoinWords(formats), formats)
	cmd.Flags().StringVar(&c.out, "out", "", "file to create; default standard output")
	return cmd
}

func (c *exportCommand) run(args []string) error {
	if err := c.check(); err != nil {
		return err
	}
	if err := c.checkParquet(); err != nil {
		return err
	}
	ctx, stop := term.StopContext(c.cmd)
	defer stop()
	since, err := c.sinceTime(c.env)
	if err != nil {
		return err
	}
	source, err := c.source(ctx, args, c.nodes)
	if err != nil {
		return err
	}
	defer source.Close() //nolint:errcheck // it was only read
	skipped := 0
	entries := c.entries(ctx, source, ledger.ReadOptions{Since: since, Skipped: func(string, int64) { skipped++ }})
	err = term.WriteFileOrOutput(c.env, c.out, func(w io.Writer) error { return c.write(ctx, w, source, entries) })
	if err != nil {
		return err
	}
	c.warnSkipped(skipped)
	return nil
}

// entries returns the entries that the filter accepts, in order of time within each node.
func (c *exportCommand) entries(ctx context.Context, s *source, options ledger.ReadOptions) iter.Seq2[term.ExportLine, error] {
	options.Keep = c.keep()
	return func(yield func(term.ExportLine, error) bool) {
		for _, n := range s.nodes {
			for l, err := range n.reader.Entries(ctx, options) {
				if !yield(term.ExportLine{Node: n.name, Line: l}, err) {
					return
				}
			}
		}
	}
}

var formats = append(ledgerexport.Formats(), formatParquet)

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
func (c *exportCommand) write(ctx context.Context, w io.Writer, source *source, entries iter.Seq2[term.ExportLine, error]) error {
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
		return source.failed(unreadable)
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
	_, err := ledgerexport.Write(w, c.format, func(yield func(*ledger.Line, error) bool) {
		for entry, err := range entries {
			if !yield(entry.Line, err) {
				return
			}
		}
	})
	return err
}
