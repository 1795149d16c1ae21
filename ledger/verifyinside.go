package ledger

import (
	"bytes"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// checkpointData is data of a checkpoint entry, as far as a verifier reads it.
type checkpointData struct {
	Note   string      `json:"note"`
	Closed bool        `json:"closed"`
	Tree   []tlog.Hash `json:"tree"`
	Second *bool       `json:"second"` // false if it could not be written to the second place
	Within int64       `json:"checkpoint_ms"`
}

func checkpointIn(line *Line) (data checkpointData, err error) {
	err = unmarshalData(line, &data)
	return data, err
}

// inside looks at what the ledger's own entries say.
func (s *chainScan) inside() (stop bool, err error) {
	switch s.line.Kind {
	case KindCheckpoint:
		return s.insideCheckpoint(), nil
	case KindRecovered:
		s.remarkEnd()
	case KindSetting:
		if s.seq == 1 {
			s.cover.readPromise(&s.line)
			s.promiseSecond()
		}
		s.remarkBefore()
		if !s.loose && s.seq > 1 && bytes.Contains(s.at.bytes, []byte(`"before":`)) {
			s.v.late = append(s.v.late, claimsIn(&s.line)...)
		}
	case KindFailure, KindSuccess, KindEnter, KindExit, KindReserve, KindComplete, KindAttempt:
	}
	return false, nil
}

// insideCheckpoint holds the chain against the checkpoint in an entry. It was also written to the chain's file, but a power cut may have
// taken the newest ones from there.
func (s *chainScan) insideCheckpoint() (stop bool) {
	inside, err := checkpointIn(&s.line)
	if err != nil {
		s.harm(HarmBadLine, s.seq, "the checkpoint in the entry cannot be read")
		return true
	}
	s.closed = inside.Closed
	s.cover.promise(inside.Within)
	s.keptUpTo(&inside)
	if s.witnesses[0].holds(inside.Note) {
		return false
	}
	said, flaw := readStatement(inside.Note, s.v.keys)
	if flaw != nil {
		s.harm(flaw.kind, s.seq, "the checkpoint in the entry cannot be believed: "+flaw.why)
		return true
	}
	size := uint64(said.size) //nolint:gosec // it was read as a size
	known := size < s.seq && s.seq-size < recentHashes && (size == 0 || s.recent[size%recentHashes] == said.last)
	if said.chain != s.report.Chain || !known || size == s.seq-1 && said.root != s.before {
		s.harm(HarmRootMismatch, s.seq, fmt.Sprintf("the checkpoint in the entry is not of the first %d entries", size))
		return true
	}
	s.covered, s.signed = max(s.covered, size), max(s.signed, size)
	s.report.Inside++
	if s.unfiled == nil {
		s.unfiled = &Harm{Kind: HarmCheckpointMissing, Chain: s.report.Chain, Seq: s.seq, File: s.at.file, Offset: s.at.offset,
			Text: "the checkpoint in the entry is not in the chain's file of checkpoints"}
	}
	if s.lines.closed && !s.witnesses[0].debris { // a segment is closed when the checkpoints in it are durable
		s.adopt(s.unfiled)
		return true
	}
	return false
}
