package ledger

import (
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Proven is what a proof shows.
type Proven struct {
	Record     Record // the entry it is about
	Size       int64  // how many entries the signed tree has
	SignedAt   string // when the checkpoint was signed
	Key        string // the name of the key
	SessionID  string // of the session, if the proof is about one
	SessionLen int64  // how many entries the session has
}

// CheckProof checks a proof against public keys, one verifier line each, and needs nothing else: no ledger, no network, no trust in whoever
// made the proof. An error says what does not fit.
func CheckProof(p Proof, keys ...string) (Proven, error) {
	verifiers, err := verifiersOf(keys)
	if err != nil {
		return Proven{}, err
	}
	signed, flaw := readStatement(p.Checkpoint, verifiers)
	if flaw != nil {
		return Proven{}, errors.New("checking the checkpoint: " + flaw.why)
	}
	line, record, err := proofLine(p.Entry)
	if err != nil {
		return Proven{}, err
	}
	if record.Chain != signed.chain || p.Chain != record.Chain || p.Seq != record.Seq || line.Seq == 0 {
		return Proven{}, errors.New("the entry, the checkpoint and the proof are not about the same place")
	}
	index := int64(record.Seq) - 1 //nolint:gosec // at most 18 digits, see parseLine
	if err := tlog.CheckRecord(p.Hashes, signed.size, signed.root, index, tlog.RecordHash([]byte(p.Entry))); err != nil {
		return Proven{}, errors.New("the entry is not in the tree that was signed")
	}
	proven := Proven{Record: record, Size: signed.size, SignedAt: signed.time, Key: believedKey(p.Checkpoint, verifiers)}
	if p.Session == nil {
		return proven, nil
	}
	return proven, checkSession(p.Session, &proven)
}

func believedKey(text string, keys note.Verifiers) string {
	opened, err := note.Open([]byte(text), keys)
	if err != nil || len(opened.Sigs) == 0 {
		return ""
	}
	return opened.Sigs[0].Name
}

func proofLine(text string) (Line, Record, error) {
	line, err := parseLine([]byte(text))
	if err != nil {
		return line, Record{}, fmt.Errorf("the entry %w", err)
	}
	record, err := line.Record()
	return line, record, err
}

// checkSession checks the inner half: the entry is in the session whose root the outer entry states.
func checkSession(p *SessionProof, proven *Proven) error {
	state, ok := sessionOf(proven.Record.Data)
	if !ok || proven.Record.Kind != KindSetting || state.State != sessionFinalised || state.ID != p.ID {
		return errors.New("the signed entry does not finalise the session")
	}
	line, record, err := proofLine(p.Entry)
	if err != nil {
		return err
	}
	if record.SessionID != p.ID {
		return errors.New("the entry is bound to another session")
	}
	if p.Index < 0 || p.Index >= state.Count {
		return errors.New("the session has no entry of that number")
	}
	root, err := tlog.ParseHash(state.Root)
	if err != nil {
		return fmt.Errorf("reading the session's root: %w", err)
	}
	if err := tlog.CheckRecord(p.Hashes, state.Count, root, p.Index, sessionLeaf(line.Hash)); err != nil {
		return errors.New("the entry is not in the session's tree")
	}
	proven.Record, proven.SessionID, proven.SessionLen = record, p.ID, state.Count
	return nil
}
