package ledgercmd

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/internal/plug"
	ledgerverify "github.com/candor-mcp/candor/ledger/verify"
)

// verifyCommand has the flags of `candor ledger verify`.
type verifyCommand struct {
	*ledgerCommand
	cmd         *cobra.Command
	checkpoints []string
	key         string
	json        bool
}

func newVerify(l *ledgerCommand) *cobra.Command {
	c := &verifyCommand{ledgerCommand: l}
	cmd := &cobra.Command{
		Use:   "verify [DIR|URL]",
		Short: "Check that nothing in a ledger was changed, removed or added",
		Long: `Check that nothing in a ledger was changed, removed or added: every hash, every link, every
checkpoint and its signature, and the references between chains. For each damaged chain the first bad
entry is printed, with the kind of damage.

A ledger that is being written, or whose writer was killed, is OK: an incomplete last line is not damage.
Every writer also stores its checkpoints in a second file, the witness copy. It reveals entries that were
removed together with their checkpoints, a removed chain, and a folder that was set back to an older copy.
verify finds the file by itself, in the user's state folder and by the path that the chains record.
--checkpoints adds other files, such as a copy on another machine.

With the URL of a store of many nodes it does what candor fleet verify does.

Exit codes: 0 OK; 1 FAILED; 2 the check could not run.`,
		Example: `  candor ledger verify
  candor ledger verify ./ledger --key auditor/signer.pub --checkpoints /mnt/worm/checkpoints
  candor ledger verify ./ledger --json
  candor ledger verify file:/srv/fleet`,
		Args: term.MaxArgs(1, "candor ledger verify DIR"),
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	c.cmd = cmd
	cmd.Flags().StringArrayVar(&c.checkpoints, "checkpoints", nil, "another file with checkpoints; may be repeated")
	cmd.Flags().StringVar(&c.key, "key", "", "file with the public keys to trust, instead of those in the folder")
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON object")
	return cmd
}

func (c *verifyCommand) run(args []string) error {
	if named, err := c.named(args); err == nil && fleet.IsLocation(named) {
		return c.verifyStore(c.cmd, StoreCheck{URL: named, Checkpoints: c.checkpoints, Keys: c.key, JSON: c.json})
	}
	dir, err := c.folder(args)
	if err != nil {
		return err
	}
	options := c.verifyOptions(dir)
	options.WitnessCopies = c.checkpoints
	if c.key != "" {
		if options.Keys, err = readKeys(c.key); err != nil {
			return err
		}
	}
	if c.env.Terminal && !c.json {
		options.Progress = c.progress
	}
	report, err := ledgerverify.Dir(c.cmd.Context(), dir, options)
	c.clear(options.Progress != nil)
	if err != nil {
		return term.BadInput("check the folder and the files of --checkpoints and --key", "%s", err)
	}
	if c.json {
		err = term.WriteJSONLine(c.env.Out, report)
	} else {
		c.write(dir, &report)
	}
	if err == nil && !report.OK {
		return term.Found()
	}
	return err
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

func (c *verifyCommand) progress(p ledgerverify.Progress) {
	fmt.Fprintf(c.env.Err, "\rreading chain %d of %d, %d MiB", p.Chain, p.Chains, p.Bytes>>20)
}

func (c *verifyCommand) clear(shown bool) {
	if shown {
		fmt.Fprint(c.env.Err, "\r\x1b[K")
	}
}

func (c *verifyCommand) write(dir string, r *ledgerverify.Report) {
	p := c.env.Colors()
	for i := range r.Chains {
		fmt.Fprintln(c.env.Out, chainWords(&r.Chains[i], p))
	}
	for _, h := range r.Damage {
		fmt.Fprintf(c.env.Out, "%s  %s\n", p.Bad("FAILED  "+string(h.Kind)), location(h))
		fmt.Fprintf(c.env.Out, "        %s\n", term.Printable(h.Text))
	}
	if r.OK {
		fmt.Fprintf(c.env.Out, "%s: %s in %s\n", p.Good("OK"), term.Count(r.Entries, "entry", "entries"), term.Count(uint64(len(r.Chains)), "chain", "chains"))
	} else {
		fmt.Fprintf(c.env.Out, "%s: %s; the first bad entry of each chain is named above\n", p.Bad("FAILED"), term.Count(uint64(len(r.Damage)), "problem", "problems"))
	}
	c.writeMissing(dir, r)
	c.writeWitnessCopies(r)
	if r.OwnKeys {
		c.env.Notify(c.cmd, "the public key comes from the same folder, so anyone who can change the entries can change it too",
			"keep a copy elsewhere with candor ledger key export, and use it with --key FILE")
	}
}

// writeMissing prints the next step for chains that are only in a witness copy: only the operator knows if they were removed on purpose.
func (c *verifyCommand) writeMissing(dir string, r *ledgerverify.Report) {
	for _, h := range r.Damage {
		if h.Kind != ledgerverify.KindMissingChain || h.File == "" {
			continue
		}
		command := "candor ledger forget " + term.Printable(dir)
		if !slices.Contains(plug.WitnessCopies(dir, c.env.Getenv), h.File) {
			command += " --witness-copy " + term.Printable(h.File)
		}
		c.env.Notify(c.cmd, "chains are missing that are recorded in the witness copy "+term.Printable(h.File),
			"restore the folder from a copy; if they were removed on purpose: "+command)
		return
	}
}

// writeWitnessCopies prints which witness copies could not be used.
func (c *verifyCommand) writeWitnessCopies(r *ledgerverify.Report) {
	for _, place := range r.UnreadWitnessCopies {
		c.env.Notify(c.cmd, "the witness copy "+term.Printable(place)+" cannot be read here", "copy the file and name it with --checkpoints FILE")
	}
	for _, f := range r.Foreign {
		c.env.Notify(c.cmd, fmt.Sprintf("the witness copy %s has checkpoints of %s that are not here, signed with unknown keys; the newest is %s",
			term.Printable(f.WitnessCopy), term.Count(uint64(f.Chains), "chain", "chains"), term.Printable(f.Last)), //nolint:gosec // a count
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
	words := []string{term.Count(c.Entries, "entry", "entries"), fmt.Sprintf("%d covered by checkpoints", c.Covered)}
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

// location describes where damage was found.
func location(h ledgerverify.Damage) string {
	place := h.Chain
	if h.Seq > 0 {
		place = fmt.Sprintf("%s/%d", h.Chain, h.Seq)
	}
	if h.File != "" {
		place += fmt.Sprintf(", %s, byte %d", term.Printable(h.File), h.Offset)
	}
	return strings.TrimPrefix(place, ", ")
}
