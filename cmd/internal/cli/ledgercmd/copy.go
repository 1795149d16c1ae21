package ledgercmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/copier"
	"github.com/candor-mcp/candor/cmd/internal/fleet/filestore"
	"github.com/candor-mcp/candor/internal/plural"
)

// copyCommand has the flags of `candor ledger copy`.
type copyCommand struct {
	command
	node string
}

func newCopy(shared command) *cobra.Command {
	c := &copyCommand{command: shared}
	cmd := &cobra.Command{
		Use:   "copy SRC DST",
		Short: "Copy a ledger, or the record of many nodes, to another place",
		Long: `Copy a ledger, or the record of many nodes, to another place, byte for byte. SRC and DST are the folder of a ledger or
the URL of a store: file:DIR, nats://…, tls://… or postgres://…. The store must be set up (candor fleet setup), except
file:DIR, which is created. Both may be in use.

The hash of every line that is read, and its link to the line before, are checked, and at the end the last entry of each
chain is compared. A chain that differs from its source is not written to; its first different entry is printed. After
Ctrl-C or an error run the same command again: it continues where it stopped.

--node names the node of a ledger folder that is copied to a store. With a store as SRC it copies only that node, which is
needed if DST is a folder. Of a chain that is being written only entries are copied that a checkpoint covers, which takes
at most a second; after a crash the others are copied once the chain was recovered, as every writer does when it starts.

Exit codes: 0 everything that a checkpoint covers was copied; 1 a chain differs or is damaged; 2 an error, or interrupted.`,
		Example: `  candor ledger copy ./ledger file:/srv/fleet --node web-1
  candor-cluster ledger copy 'nats://nats-1:4222?creds=operator.creds' postgres://candor@db/ledger
  candor-cluster ledger copy nats://nats-1:4222 ./web-1 --node web-1`,
		Args: twoArgs("a source and a destination", "candor ledger copy ./ledger file:/srv/fleet --node web-1"),
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args[0], args[1]) },
	}
	cmd.Flags().StringVar(&c.node, "node", "", "name of the node of a ledger folder; or the only node to copy")
	c.registerJSON(cmd, oneObject)
	return cmd
}

// isURL reports whether text is a URL, also one that no engine knows, and not the path of a folder.
func isURL(text string) bool { return fleet.IsLocation(text) || strings.Contains(text, "://") }

// copyReport is the output of `candor ledger copy --json`.
type copyReport struct {
	OK bool `json:"ok"`
	copier.Result
	Pending uint64 `json:"pending,omitempty"` // entries that no checkpoint covers yet
}

func (c *copyCommand) run(from, to string) error {
	if c.node != "" {
		if err := checkNode(c.node, "--node "); err != nil {
			return err
		}
	}
	ctx, stop := term.StopContext(c.cmd)
	defer stop()
	source, closeSource, err := c.source(ctx, from, to)
	if err != nil {
		return err
	}
	defer closeSource()
	store, as, err := c.destination(ctx, to)
	if err != nil {
		return err
	}
	defer store.Close() //nolint:errcheck // Append has made everything durable
	o := copier.Options{Node: c.node, As: as}
	show, clearLine := c.progress()
	if show != nil {
		o.Progress = func(p copier.Progress) {
			show("copying: %d of %d chains, %d entries, %d new, %d MiB", p.Done, p.Chains, p.Entries, p.Copied, p.Bytes>>20)
		}
	}
	result, err := copier.Copy(ctx, source, store, o)
	clearLine()
	if err != nil {
		return interrupted(ctx, err)
	}
	return c.report(ctx, source, result)
}

// source opens the source. A folder that is copied to a store needs the name of its node.
func (c *copyCommand) source(ctx context.Context, from, to string) (copier.Source, func(), error) {
	if isURL(from) {
		store, _, err := c.env.OpenStore(ctx, from)
		if err != nil {
			return nil, nil, err
		}
		if c.node == "" && !isURL(to) {
			_ = store.Close() // nothing was done
			return nil, nil, term.BadInput("name the node with --node, or copy to file:DIR", "%s: a folder holds the ledger of one node", to)
		}
		return store, func() { _ = store.Close() }, nil // it was only read
	}
	dir, err := c.folder([]string{from})
	if err != nil {
		return nil, nil, err
	}
	node := c.node
	if node == "" && !isURL(to) {
		node = folderNode
	}
	if node == "" {
		return nil, nil, term.BadInput("such as --node web-1", "%s: the chains of a folder need the name of their node", from)
	}
	l, err := copier.OpenLedger(dir, node)
	if err != nil {
		return nil, nil, cannotRead(err)
	}
	c.node = node
	return l, func() { _ = l.Close() }, nil // it was only read
}

// folderNode is the name of the node while a folder is copied to a folder. It is not stored.
const folderNode = "ledger"

// destination opens the destination. A folder is a node of the store in the folder above it, whose name is that of the folder.
func (c *copyCommand) destination(ctx context.Context, to string) (store fleet.Store, as string, err error) {
	if isURL(to) {
		store, _, err := c.env.OpenStore(ctx, to)
		return store, "", err
	}
	dir := term.AbsolutePath(to)
	as = filepath.Base(dir)
	if !fleet.ValidNode(as) {
		return nil, "", term.BadInput("choose a folder whose name has only letters, digits, hyphens and underscores", "%s: not a name for a copy", to)
	}
	if _, err := os.Stat(filepath.Join(dir, "keys", "signer.key")); err == nil {
		return nil, "", term.BadInput("choose a new folder", "%s: a ledger with its own key, not a copy", to)
	}
	return filestore.Open(filepath.Dir(dir)), as, nil
}

// report prints the result.
func (c *copyCommand) report(ctx context.Context, source copier.Source, result copier.Result) error {
	report := copyReport{OK: len(result.Problems) == 0, Result: result}
	if l, ok := source.(*copier.Ledger); ok {
		var err error
		if report.Pending, err = l.Pending(ctx); err != nil {
			return interrupted(ctx, cannotRead(err))
		}
	}
	if !c.json {
		c.write(report)
	}
	return c.finish(report, report.OK)
}

func (c *copyCommand) write(r copyReport) {
	p := c.env.Colors()
	for _, found := range r.Problems {
		c.say("%s  %s, entry %d\n        %s\n", p.Bad("FAILED  "+string(found.Kind)), found.Chain, found.Seq, term.Printable(found.Text))
	}
	verdict := p.Good("OK")
	if !r.OK {
		verdict = p.Bad("FAILED") + ": " + plural.Count(len(r.Problems), "chain was", "chains were") + " not copied to the end"
	}
	c.say("%s: %s in %s, of which %d are new\n", verdict,
		plural.Count(r.Entries, "entry", "entries"), plural.Of(r.Chains, "chain"), r.Copied)
	c.notifyPending(r.Pending, "copied")
}

// notifyPending prints how many entries were left out because no checkpoint covers them yet.
func (c *command) notifyPending(n uint64, done string) {
	if n > 0 && !c.json {
		c.env.Notify(c.cmd, fmt.Sprintf("%s not %s: no checkpoint covers them yet", plural.Count(n, "entry was", "entries were"), done),
			"run the command again; if the writer was killed, start it once, so that it recovers the chain")
	}
}

// interrupted returns the error for a copy that was not completed.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return term.BadInput("run the same command again; it continues where it stopped", "interrupted; the copy is not complete")
	}
	failure := term.StoreError(err)
	if failure.Hint == "" {
		failure.Hint = "run the same command again; it continues where it stopped"
	}
	return failure
}
