package ledgercmd

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/view"
	"github.com/candor-mcp/candor/internal/plural"
	ledgerverify "github.com/candor-mcp/candor/ledger/verify"
)

// verifyCommand has the flags of `candor ledger verify`.
type verifyCommand struct {
	command
	trustFlags
	noCheckpoint bool // write none
	wait         term.AgeFlag
}

// defaultWait is how long entries are waited for that a node names and the store does not have.
const defaultWait = term.AgeFlag(5 * time.Second)

func newVerify(shared command) *cobra.Command {
	c := &verifyCommand{command: shared, wait: defaultWait}
	cmd := &cobra.Command{
		Use:   "verify [DIR|URL]",
		Short: "Check that nothing in a ledger was changed, removed or added",
		Long: `Check that nothing in a ledger was changed, removed or added: every hash, every link, every
checkpoint and its signature, and the references between chains. For each damaged chain the first bad
entry is printed, with the kind of damage.

A ledger is OK while it is being written and after its writer was killed: an incomplete last line is not damage.
Every writer also stores its checkpoints in a second file, the witness copy. It reveals entries that were
removed together with their checkpoints, a removed chain, and a folder that was set back to an older copy.
verify finds the file by itself, in the user's state folder and by the path that the chains record.
--checkpoints adds other files, such as a copy on another machine.

With the URL of a store, each of its nodes is verified by itself; what one node states about another does not count,
and counters of the store are not used. The result is compared with a checkpoint over all nodes that was kept
outside the store. It reveals a node, a chain or a whole store that is missing or was restored from an older copy.
Unless the result is FAILED, a new checkpoint is signed with the operator's key and added to the file. Keep the file
and the key on another machine than the store.

The first time, the public key of each node is taken from its oldest chain; from then on the checkpoints name it. A
node that has another key later is reported, unless it was rotated with candor ledger key rotate. To check the
keys of the nodes yourself, or to accept a new one, name them with --key.

INCOMPLETE instead of FAILED means that a node names entries that the store does not have, and no checkpoint shows that
it ever had them: the node has not shipped them yet, or they were removed before a checkpoint covered them.

Exit codes: 0 OK; 1 FAILED or INCOMPLETE; 2 the check could not run.`,
		Example: `  candor ledger verify
  candor ledger verify ./ledger --key auditor/signer.pub --checkpoints /mnt/worm/checkpoints
  candor ledger verify ./ledger --json
  candor ledger verify file:/srv/fleet
  candor-cluster ledger verify 'nats://nats-1:4222?node=READER&nkey=reader.nk' --checkpoints /mnt/worm/fleet`,
		Args: term.MaxArgs(1, "candor ledger verify DIR"),
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	c.register(cmd)
	cmd.Flags().Var(&c.wait, "wait", "of a store: how long to wait for entries that a node names and has not shipped yet")
	cmd.Flags().BoolVar(&c.noCheckpoint, "no-checkpoint", false, "of a store: compare with the checkpoints, but write none")
	c.registerJSON(cmd, oneObject)
	return cmd
}

func (c *verifyCommand) run(args []string) error {
	if named, err := c.named(args); err == nil && fleet.IsLocation(named) {
		return c.verifyStore(named)
	}
	if err := c.refuse("a folder has none", "operator-key", "wait", "no-checkpoint"); err != nil {
		return err
	}
	dir, err := c.folder(args)
	if err != nil {
		return err
	}
	options, err := c.optionsOf(&c.command, dir)
	if err != nil {
		return err
	}
	show, clearLine := c.progress()
	if show != nil {
		options.Progress = func(p ledgerverify.Progress) { show("reading chain %d of %d, %d MiB", p.Chain, p.Chains, p.Bytes>>20) }
	}
	report, err := ledgerverify.Dir(c.cmd.Context(), dir, options)
	clearLine()
	if err != nil {
		return term.BadInput("check the folder and the files of --checkpoints and --key", "%s", err)
	}
	if !c.json {
		c.write(&report)
	}
	return c.finish(report, report.OK)
}

// readKeys reads a file of public keys, one per line.
func readKeys(name string) ([]string, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, term.BadInput("write one with candor ledger key export", "%s", err)
	}
	var keys []string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "PRIVATE+KEY+") {
			return nil, term.BadInput("give the public key; candor ledger key export writes it", "%s: contains a private key", name)
		}
		if line != "" && !strings.HasPrefix(line, "#") {
			keys = append(keys, line)
		}
	}
	if len(keys) == 0 {
		return nil, term.BadInput("write one with candor ledger key export", "%s: contains no public key", name)
	}
	return keys, nil
}

func (c *verifyCommand) write(r *ledgerverify.Report) {
	p := c.env.Colors()
	for i := range r.Chains {
		c.say("%s\n", chainWords(&r.Chains[i], p))
	}
	for _, h := range r.Damage {
		c.say("%s\n", damageLines(view.Damage{Damage: h}, p))
	}
	c.writeResult(r.OK, r.Entries, "in "+plural.Of(len(r.Chains), "chain"), len(r.Damage))
	for _, h := range r.Damage {
		if h.Kind == "missing-chain" && h.File != "" {
			c.env.Notify(c.cmd, "chains are missing that are recorded in the witness copy "+term.Printable(h.File),
				"restore the folder from a copy; if they were removed on purpose, move that file away")
			break
		}
	}
	c.writeWitnessCopies(r)
	if r.OwnKeys {
		c.env.Notify(c.cmd, "the public key comes from the same folder, so anyone who can change the entries can change it too",
			"keep a copy elsewhere with candor ledger key export, and use it with --key FILE")
	}
}

// writeWitnessCopies prints which witness copies could not be used.
func (c *verifyCommand) writeWitnessCopies(r *ledgerverify.Report) {
	for _, place := range r.UnreadWitnessCopies {
		c.env.Notify(c.cmd, "the witness copy "+term.Printable(place)+" cannot be read here", "copy the file and name it with --checkpoints FILE")
	}
	for _, f := range r.Foreign {
		c.env.Notify(c.cmd, fmt.Sprintf("the witness copy %s has checkpoints of %s that are not here, signed with unknown keys; the newest is %s",
			term.Printable(f.WitnessCopy), plural.Of(f.Chains, "chain"), term.Printable(f.Last)),
			"they belong to another ledger, or to this one before it was removed with its keys; give the keys with --key FILE")
	}
	for i := range r.Chains {
		if u := &r.Chains[i]; u.Unwitnessed > 0 {
			c.env.Notify(c.cmd, fmt.Sprintf("the witness copy covers %d of the %d entries of chain %s whose checkpoints were written there", u.Witnessed, u.Unwitnessed, u.Chain),
				"the file was emptied, truncated or replaced; compare with a copy: --checkpoints FILE")
		}
	}
	if len(r.WitnessCopies) == 0 {
		c.env.Notify(c.cmd, "no witness copy was found: an older copy of the folder, or entries removed with their checkpoints, cannot be detected",
			"name the file with --checkpoints FILE, and do not write with --witness-copy none")
	}
}

// chainWords describes a chain in one line.
func chainWords(c *ledgerverify.Chain, p term.Colors) string {
	state := "not closed: its writer is running or was killed"
	switch {
	case c.Damage != nil:
		state = "then damage"
	case c.Recovered != "":
		state = "recovered by " + c.Recovered
	case c.Closed:
		state = "closed"
	}
	words := []string{plural.Count(c.Entries, "entry", "entries"), fmt.Sprintf("%d covered by checkpoints", c.Covered)}
	if c.Witnessed > 0 {
		words = append(words, fmt.Sprintf("%d by a witness copy", c.Witnessed))
	}
	if c.Pruned > 0 {
		words = append(words, fmt.Sprintf("%d pruned before", c.Pruned))
	}
	if c.Torn > 0 {
		words = append(words, fmt.Sprintf("%d bytes of an incomplete line", c.Torn))
	}
	return fmt.Sprintf("chain %s: %s, %s", p.Name(c.Chain), strings.Join(words, ", "), state)
}

// damageLines describes damage in two lines. That of a folder has no node, and a store has no files.
func damageLines(d view.Damage, p term.Colors) string {
	place := d.Chain
	if d.Seq > 0 {
		place = fmt.Sprintf("%s/%d", d.Chain, d.Seq)
	}
	switch {
	case d.Node != "":
		place = fmt.Sprintf("node %s  %s", p.Name(term.Printable(d.Node)), place)
	case d.File != "":
		place = strings.TrimPrefix(fmt.Sprintf("%s, %s, byte %d", place, term.Printable(d.File), d.Offset), ", ")
	}
	verdict := p.Bad("FAILED  " + string(d.Kind))
	if d.Unshipped {
		verdict = p.Warn("INCOMPLETE  " + string(d.Kind))
	}
	return fmt.Sprintf("%s  %s\n        %s", verdict, place, term.Printable(d.Text))
}

// writeResult prints the last line of a report, unless entries have not been shipped yet.
func (c *command) writeResult(ok bool, entries uint64, of string, damage int) {
	p := c.env.Colors()
	if ok {
		c.say("%s: %s %s\n", p.Good("OK"), plural.Count(entries, "entry", "entries"), of)
		return
	}
	c.say("%s: %s; the first bad entry of each chain is named above\n", p.Bad("FAILED"), plural.Of(damage, "problem"))
}
