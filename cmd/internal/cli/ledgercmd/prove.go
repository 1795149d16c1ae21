package ledgercmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/export"
	"github.com/candor-mcp/candor/ledger"
	ledgerproof "github.com/candor-mcp/candor/ledger/proof"
)

// proveCommand has the flags of `candor ledger prove`.
type proveCommand struct {
	*ledgerCommand
	chain, out string
}

func newProve(l *ledgerCommand) *cobra.Command {
	c := &proveCommand{ledgerCommand: l}
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
	dir, err := c.folder(nil)
	if err != nil {
		return err
	}
	r, err := ledger.OpenReader(dir)
	if err != nil {
		return cannotRead(err)
	}
	defer r.Close() //nolint:errcheck // it was only read
	chain, seq, err := c.find(ctx, r, asked)
	if err != nil {
		return err
	}
	proof, err := ledgerproof.Make(ctx, dir, ledger.Receipt{Chain: chain, Seq: seq}, ledgerproof.Options{})
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

// find returns the entry to prove.
func (c *proveCommand) find(ctx context.Context, r *ledger.Reader, asked string) (chain string, seq uint64, err error) {
	if c.chain != "" {
		asked = c.chain + "/" + asked
	}
	chain, seq, notEntry := parseEntry(r, asked)
	if strings.Contains(asked, "/") && (seq > 0 || notEntry != nil) {
		return chain, seq, notEntry
	}
	if seq > 0 { // it may also be the beginning of a ref
		for _, err := range r.Entries(ctx, ledger.ReadOptions{Chain: chain, Keep: func(l *ledger.Line) bool { return l.Seq == seq }}) {
			return chain, seq, err
		}
	}
	foundChain, found, err := entryOf(ctx, r, asked)
	switch {
	case err != nil || found > 0:
		return foundChain, found, err
	case seq > 0 || notEntry != nil:
		return chain, seq, notEntry
	}
	return "", 0, noSuchEntry(ctx, r, asked)
}

// checkProofCommand has the flags of `candor ledger check-proof`.
type checkProofCommand struct {
	*ledgerCommand
	key  string
	json bool
}

func newCheckProof(l *ledgerCommand) *cobra.Command {
	c := &checkProofCommand{ledgerCommand: l}
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
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON object")
	return cmd
}

// proofVerdict is the output of `candor ledger check-proof --json`.
type proofVerdict struct {
	OK      bool           `json:"ok"`
	Why     string         `json:"why,omitempty"`
	Chain   string         `json:"chain,omitempty"`
	Seq     uint64         `json:"seq,omitempty"`
	Session string         `json:"session,omitempty"`
	Size    int64          `json:"size,omitempty"`
	Signed  string         `json:"signed,omitempty"`
	Entry   *ledger.Record `json:"entry,omitempty"`
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
	proof, thoughts, err := c.read(name)
	if err != nil {
		return err
	}
	proven, err := ledgerproof.Check(proof, keys...)
	if err == nil && thoughts != nil {
		err = thoughts.Check(proven.Record.Data)
	}
	if c.json {
		verdict := proofVerdict{OK: err == nil, Chain: proven.Record.Chain, Seq: proven.Record.Seq, Session: proven.SessionID, Size: proven.Size, Signed: proven.SignedAt}
		if err != nil {
			verdict = proofVerdict{Why: err.Error()}
		} else {
			verdict.Entry = &proven.Record
			if thoughts != nil {
				verdict.Thoughts = len(thoughts.Records)
			}
		}
		if err := term.WriteJSONLine(c.env.Out, verdict); err != nil {
			return err
		}
	}
	if err != nil {
		return &term.Error{Code: term.ExitFound, Text: "the proof is not valid: " + term.Printable(err.Error()), Hint: "ask for a new proof; if that is not valid either, verify the ledger"}
	}
	if !c.json {
		c.write(&proven)
		if thoughts != nil {
			fmt.Fprintf(c.env.Out, "  thoughts  %s of task %s, unchanged since they were recorded\n",
				term.Count(uint64(len(thoughts.Records)), "record", "records"), term.Printable(thoughts.Records[0].TaskID))
		}
	}
	return nil
}

const maxProof = 64 << 20

// read reads a proof and the thought records with it, if any.
func (c *checkProofCommand) read(name string) (ledgerproof.Proof, *export.Thoughts, error) {
	in := c.env.In
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return ledgerproof.Proof{}, nil, term.UnreadableFile(err)
		}
		defer file.Close() //nolint:errcheck // it was only read
		in = file
	}
	data, err := io.ReadAll(io.LimitReader(in, maxProof))
	if err != nil {
		return ledgerproof.Proof{}, nil, term.UnreadableFile(err)
	}
	f, err := export.Read(data)
	if err != nil {
		return ledgerproof.Proof{}, nil, term.BadInput("give a file of candor ledger prove or candor workbench dual export", "%s", err)
	}
	return f.Proof, f.Thoughts, nil
}

func (c *checkProofCommand) write(p *ledgerproof.Result) {
	colors := c.env.Colors()
	fmt.Fprintf(c.env.Out, "%s: entry %d of chain %s is in the ledger\n", colors.Good("proven"), p.Record.Seq, p.Record.Chain)
	if p.SessionID != "" {
		fmt.Fprintf(c.env.Out, "  session   %s, finalised with %s\n", term.Printable(p.SessionID), term.Count(uint64(p.SessionLen), "entry", "entries")) //nolint:gosec // a count
	}
	signed, err := time.Parse("2006-01-02T15:04:05.000000Z", p.SignedAt)
	if err == nil {
		fmt.Fprintf(c.env.Out, "  signed    %s, over %s, by %s\n", LocalTime(signed), term.Count(uint64(p.Size), "entry", "entries"), term.Printable(p.Key)) //nolint:gosec // a size
	}
	fmt.Fprintf(c.env.Out, "  entry     %s\n", entryWords(&p.Record, colors))
}
