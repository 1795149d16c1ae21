package ledgercmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/rules"
	"github.com/candor-mcp/candor/internal/plural"
	"github.com/candor-mcp/candor/ledger"
	ledgerproof "github.com/candor-mcp/candor/ledger/proof"
)

// proveCommand has the flags of `candor ledger prove`.
type proveCommand struct {
	command
	chain, out string
}

func newProve(shared command) *cobra.Command {
	c := &proveCommand{command: shared}
	cmd := &cobra.Command{
		Use:   "prove REF|CHAIN/SEQ|SEQ",
		Short: "Write a proof that an entry is in the ledger",
		Long: `Write a proof that an entry is in the ledger: one JSON file with the entry, the hashes from it to the root, and the
signed checkpoint. Anyone who has the public key can check it with candor ledger check-proof, without the ledger.

The beginning of a ref is enough if no other one begins with it. SEQ alone is enough if there is only one chain.`,
		Example: `  candor ledger prove 6f1c9a --out proof.json
  candor ledger prove 17 --chain candor-20261115T040506789Z-0a1b2c3d`,
		Args: term.OneArg("entry", "candor ledger prove CHAIN/SEQ"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args[0]) },
	}
	cmd.Flags().StringVar(&c.chain, "chain", "", "chain of the entry, if there are several")
	cmd.Flags().StringVar(&c.out, "out", "", "file to create; default standard output")
	return cmd
}

func (c *proveCommand) run(ctx context.Context, asked string) error {
	r, err := c.reader(nil)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // it was only read
	if c.chain != "" {
		asked = c.chain + "/" + asked
	}
	list, err := find(ctx, r, asked)
	if err != nil {
		return err
	}
	if len(list) > 1 {
		var lines []string
		for i := range list {
			e := &list[i].record
			lines = append(lines, fmt.Sprintf("  %s/%d  %s", e.Chain, e.Seq, e.Kind))
		}
		return term.BadInput("give one of them as CHAIN/SEQ", "%q: ambiguous, several entries have this id:\n%s", list[0].id, shortList(lines))
	}
	dir, err := c.folder(nil)
	if err != nil {
		return err
	}
	proof, err := ledgerproof.Make(ctx, dir, ledger.Receipt{Chain: list[0].record.Chain, Seq: list[0].record.Seq})
	switch {
	case errors.Is(err, ledgerproof.ErrNotCovered):
		return term.BadInput("try again in a second, when the next checkpoint is signed", "%s", err)
	case errors.Is(err, ledgerproof.ErrNoEntry):
		return term.BadInput("candor ledger tail lists the last entries", "%s", err)
	case err != nil:
		return term.BadInput("run candor ledger verify", "%s", err)
	}
	return term.WriteFileOrOutput(c.env, c.out, func(w io.Writer) error { return term.WriteJSONLine(w, proof) })
}

// checkProofCommand has the flags of `candor ledger check-proof`.
type checkProofCommand struct {
	command
	key string
}

func newCheckProof(shared command) *cobra.Command {
	c := &checkProofCommand{command: shared}
	cmd := &cobra.Command{
		Use:   "check-proof FILE --key FILE",
		Short: "Check a proof with the public key alone",
		Long: `Check a proof that candor ledger prove wrote. It needs only the proof and the public key, no ledger and no
network. In a file of candor workbench dual export the thought records are checked too.

Exit codes: 0 the entry is in the ledger that the key signs; 1 the proof is not valid; 2 the check could not run.`,
		Example: `  candor ledger check-proof proof.json --key signer.pub
  candor ledger check-proof - --key signer.pub < proof.json`,
		Args: term.OneArg("proof", "candor ledger check-proof proof.json --key signer.pub"),
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args[0]) },
	}
	cmd.Flags().StringVar(&c.key, "key", "", "file with the public keys to trust")
	c.registerJSON(cmd, oneObject)
	return cmd
}

// proofVerdict is the output of `candor ledger check-proof --json`.
type proofVerdict struct {
	OK     bool           `json:"ok"`
	Why    string         `json:"why,omitempty"`
	Chain  string         `json:"chain,omitempty"`
	Seq    uint64         `json:"seq,omitempty"`
	Size   int64          `json:"size,omitempty"`
	Signed string         `json:"signed,omitempty"`
	Entry  *ledger.Record `json:"entry,omitempty"`
	// Thoughts is the number of thought records in the file, all unchanged.
	Thoughts int `json:"thoughts,omitempty"`
}

func (c *checkProofCommand) run(name string) error {
	if c.key == "" {
		return term.BadInput("write it with candor ledger key export", "--key: missing")
	}
	keys, err := readKeys(c.key)
	if err != nil {
		return err
	}
	file, err := c.read(name)
	if err != nil {
		return err
	}
	proven, err := ledgerproof.Check(file.Proof, keys...)
	if err == nil {
		err = file.Check(proven.Record.Data)
	}
	verdict := proofVerdict{OK: true, Chain: proven.Record.Chain, Seq: proven.Record.Seq, Size: proven.Size, Signed: proven.SignedAt, Entry: &proven.Record}
	if err != nil {
		verdict = proofVerdict{Why: err.Error()}
	} else {
		c.write(&proven)
		verdict.Thoughts = c.writeRecords(file)
	}
	if printed := c.finish(verdict, true); printed != nil {
		return printed
	}
	if err != nil {
		return &term.Error{Code: term.ExitFound, Text: "the proof is not valid: " + term.Printable(err.Error()), Hint: "ask for a new proof; if that is not valid either, verify the ledger"}
	}
	return nil
}

const maxProof = 64 << 20

// writeRecords prints which thought records were checked, and returns how many.
func (c *checkProofCommand) writeRecords(f *rules.Export) int {
	switch {
	case f.Thoughts != nil:
		c.say("  thoughts  %s of task %s, unchanged since they were recorded; the title and status of the task are not covered\n",
			plural.Of(len(f.Thoughts.Records), "record"), term.Printable(f.Thoughts.Task.ID))
		return len(f.Thoughts.Records)
	case f.Session != nil:
		c.say("  session   %s, with root %s over %s, unchanged since it was finalised\n",
			term.Printable(f.Session.Session.ID), f.Session.Session.Root, plural.Of(len(f.Session.Records), "record"))
		return len(f.Session.Records)
	}
	return 0
}

// read reads a proof and the thought records with it, if any.
func (c *checkProofCommand) read(name string) (*rules.Export, error) {
	in := c.env.In
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, term.UnreadableFile(err)
		}
		defer file.Close() //nolint:errcheck // it was only read
		in = file
	}
	data, err := io.ReadAll(io.LimitReader(in, maxProof))
	if err != nil {
		return nil, term.UnreadableFile(err)
	}
	f, err := rules.ReadExport(data)
	if err != nil {
		return nil, term.BadInput("give a file of candor ledger prove or candor workbench dual export", "%s", err)
	}
	return f, nil
}

func (c *checkProofCommand) write(p *ledgerproof.Result) {
	colors := c.env.Colors()
	c.say("%s: entry %d of chain %s is in the ledger\n", colors.Good("proven"), p.Record.Seq, p.Record.Chain)
	signed, err := time.Parse("2006-01-02T15:04:05.000000Z", p.SignedAt)
	if err == nil {
		c.say("  signed    %s, over %s, by %s\n", LocalTime(signed), plural.Count(p.Size, "entry", "entries"), term.Printable(p.Key))
	}
	c.say("  entry     %s\n", entryWords(&p.Record, colors))
}
