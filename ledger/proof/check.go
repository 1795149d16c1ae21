package proof

import (
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/candor-mcp/candor/internal/checkpoint"
	"github.com/candor-mcp/candor/ledger"
)

// Result is the content of a valid proof.
type Result struct {
	Record   ledger.Record // the proved entry
	Size     int64         // number of entries in the signed tree
	SignedAt string        // time of the checkpoint
	Key      string        // name of the signing key
}

// Check checks a proof against public keys, one verifier line each. It needs neither the ledger nor the network, and
// does not trust the maker of the proof. The error says which check failed.
func Check(p Proof, keys ...string) (Result, error) {
	verifiers, err := checkpoint.Verifiers(keys)
	if err != nil {
		return Result{}, err
	}
	signed, flaw := checkpoint.Read(p.Checkpoint, verifiers)
	if flaw != nil {
		return Result{}, errors.New("checking the checkpoint: " + flaw.Why)
	}
	line, record, err := proofLine(p.Entry)
	if err != nil {
		return Result{}, err
	}
	if record.Chain != signed.Chain || p.Chain != record.Chain || p.Seq != record.Seq || line.Seq == 0 {
		return Result{}, errors.New("the entry, the checkpoint and the proof name different entries")
	}
	index := int64(record.Seq) - 1 //nolint:gosec // at most 18 digits, see ParseLine
	if err := tlog.CheckRecord(p.Hashes, signed.Size, signed.Root, index, tlog.RecordHash([]byte(p.Entry))); err != nil {
		return Result{}, errors.New("the entry is not in the signed tree")
	}
	return Result{Record: record, Size: signed.Size, SignedAt: signed.Time, Key: believedKey(p.Checkpoint, verifiers)}, nil
}

func believedKey(text string, keys note.Verifiers) string {
	opened, err := note.Open([]byte(text), keys)
	if err != nil || len(opened.Sigs) == 0 {
		return ""
	}
	return opened.Sigs[0].Name
}

func proofLine(text string) (ledger.Line, ledger.Record, error) {
	line, err := ledger.ParseLine([]byte(text))
	if err != nil {
		return line, ledger.Record{}, fmt.Errorf("the entry %w", err)
	}
	record, err := line.Record()
	return line, record, err
}
