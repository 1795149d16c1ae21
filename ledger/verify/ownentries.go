package verify

import (
	"bytes"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/candor-mcp/candor/internal/checkpoint"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/ledger"
)

// checkpointData is the part of a checkpoint entry's data that a verifier reads.
type checkpointData struct {
	Note      string      `json:"note"`
	Closed    bool        `json:"closed"`
	Tree      []tlog.Hash `json:"tree"`
	Witnessed *bool       `json:"second"` // false if writing to the witness copy failed
	Within    int64       `json:"checkpoint_ms"`
}

func checkpointIn(line *ledger.Line) (data checkpointData, err error) {
	err = format.DecodeData(line.Raw(), &data)
	return data, err
}

// inside checks the entries that the ledger wrote itself.
func (s *chainScan) inside() (stop bool, err error) {
	switch s.line.Kind {
	case ledger.KindCheckpoint:
		return s.insideCheckpoint(), nil
	case ledger.KindRecovered:
		s.remarkEnd()
	case ledger.KindSetting:
		if s.seq == 1 {
			first := readFirstEntry(&s.line)
			s.cover.promise(first.Within)
			s.hasWitnessCopy = first.WitnessCopy != ""
		}
		s.remarkBefore()
		s.collectPruned()
		if !s.loose && s.seq > 1 && bytes.Contains(s.at.Bytes, []byte(`"before":`)) {
			s.v.late = append(s.v.late, claimsIn(&s.line)...)
		}
	case ledger.KindFailure, ledger.KindSuccess, ledger.KindEnter, ledger.KindExit, ledger.KindReserve, ledger.KindComplete, ledger.KindAttempt:
	}
	return false, nil
}

// insideCheckpoint compares the chain with the checkpoint in an entry. The checkpoint was also written to the chain's
// file, but a power cut may have lost the newest ones there.
func (s *chainScan) insideCheckpoint() (stop bool) {
	inside, err := checkpointIn(&s.line)
	if err != nil {
		s.damage(kindBadLine, s.seq, "the checkpoint in the entry is malformed")
		return true
	}
	s.closed = inside.Closed
	s.cover.promise(inside.Within)
	s.keptUpTo(&inside)
	if s.witnesses[0].holds(inside.Note) {
		return false
	}
	said, flaw := checkpoint.Read(inside.Note, s.v.keys)
	if flaw != nil {
		s.damage(flaw.Kind, s.seq, "the checkpoint in the entry is invalid: "+flaw.Why)
		return true
	}
	size := uint64(said.Size) //nolint:gosec // it was read as a size
	known := size < s.seq && s.seq-size < recentHashes && (size == 0 || s.recent[size%recentHashes] == said.Last)
	if said.Chain != s.report.Chain || !known || size == s.seq-1 && !s.leftover && said.Root != s.before {
		s.damage(kindRootMismatch, s.seq, fmt.Sprintf("the checkpoint in the entry does not match the first %d entries", size))
		return true
	}
	s.covered, s.signed = max(s.covered, size), max(s.signed, size)
	s.report.Inside++
	if s.unfiled == nil {
		s.unfiled = &Damage{Kind: kindCheckpointMissing, Chain: s.report.Chain, Seq: s.seq, File: s.at.File, Offset: s.at.Offset,
			Text: "the checkpoint in the entry is not in the chain's file of checkpoints"}
	}
	if s.lines.Closed && !s.witnesses[0].debris { // a segment is closed only after the checkpoints in it are durable
		s.adopt(s.unfiled)
		return true
	}
	return false
}
