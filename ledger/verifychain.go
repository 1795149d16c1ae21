package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// checkpointEvery is how many entries may stand behind a checkpoint before the next one is due.
const checkpointEvery = 256

// recentHashes is how far back a checkpoint that is seen late, beside a writer that is quicker than we are, can be compared.
const recentHashes = 1024

// claim is what somebody else says about a chain: that its entry of that number has that hash.
type claim struct {
	size uint64
	last Digest
	by   string // the chain that says so
}

// chainScan walks through one chain from its first line to its last. Its fields belong to the goroutine that runs it.
type chainScan struct {
	v         *verification
	lines     *lineStream
	leaves    leafHasher
	tree      frontier
	treeless  bool // pruned, and the tree up to there is not known: roots cannot be computed
	witnesses []*witness
	claims    []claim // by size; those in front have been compared

	line    Line // the one that is being looked at
	at      rawLine
	seq     uint64 // of the last good line
	last    Digest // its hash
	time    int64  // its time in microseconds
	closed  bool
	recent  [recentHashes]Digest // by seq
	begun   bool
	covered uint64 // what the newest checkpoint of the chain's own file covers

	report ChainReport
}

// run scans to the end. The report is complete when it returns without an error.
func (s *chainScan) run() error {
	defer s.close()
	for {
		line, err := s.lines.next()
		switch {
		case err == nil:
			if stop, err := s.take(line); stop || err != nil {
				return err
			}
		case errors.Is(err, io.EOF):
			more, err := s.settle()
			if err != nil || !more {
				return err
			}
		case errors.Is(err, errTornInside):
			s.at = line
			s.harm(HarmTornTail, s.seq+1, "a closed segment ends in half a line")
			return nil
		case errors.Is(err, errCorrupt):
			s.at = line
			s.harm(HarmBadLine, s.seq+1, err.Error())
			return nil
		default:
			return fmt.Errorf("reading chain %s: %w", s.report.Chain, err)
		}
	}
}

func (s *chainScan) close() {
	_ = s.lines.close() // only read
	for _, w := range s.witnesses {
		_ = w.notes.close()
	}
}

// take checks one line, with all checkpoints that cover what stands before it.
func (s *chainScan) take(raw rawLine) (stop bool, err error) {
	s.at = raw
	if stop, err := s.meet(); stop || err != nil {
		return true, err
	}
	kind, why := s.check()
	if kind != "" {
		debris, err := s.debris()
		if err != nil || debris {
			return true, errors.Join(err, s.finish())
		}
		s.harm(kind, s.named(kind), why)
		return true, nil
	}
	s.accept()
	return s.inside()
}

// check compares a line with the one before it. The order matters: nothing that a line says is used before its hash fits.
func (s *chainScan) check() (HarmKind, string) {
	line, err := parseLine(s.at.bytes)
	switch {
	case errors.Is(err, errHash):
		return HarmBadHash, "the entry was changed: its hash does not fit its bytes"
	case err != nil:
		return HarmBadLine, "the line is no entry"
	}
	s.line = line
	if !s.begun {
		if err := s.begin(); err != nil {
			return HarmMissingSegment, err.Error()
		}
	}
	if kind, why := s.checkOrder(); kind != "" {
		return kind, why
	}
	if line.Prev != s.last {
		return HarmBrokenLink, "the entry does not follow the one before it: their hashes differ"
	}
	if line.Time.UnixMicro() < s.time {
		return HarmTimeBackwards, "the entry is older than the one before it"
	}
	return "", ""
}

func (s *chainScan) checkOrder() (HarmKind, string) {
	seq := s.line.Seq
	switch {
	case !s.line.In(s.report.Chain):
		return HarmWrongChain, "the entry belongs to chain " + s.line.Chain()
	case s.closed:
		return HarmWrongSeq, "the entry stands behind the end of a closed chain"
	case seq == s.seq+1:
		return "", ""
	case seq <= s.seq:
		return HarmDuplicate, fmt.Sprintf("entry %d is there again behind entry %d", seq, s.seq)
	case s.at.first && (s.lines.gap || !s.lines.closed && seq > s.seq+2):
		return HarmMissingSegment, fmt.Sprintf("entries %d to %d are gone with their file", s.seq+1, seq-1)
	default:
		return HarmWrongSeq, fmt.Sprintf("entry %d should stand here, not %d", s.seq+1, seq)
	}
}

// named returns the entry to name: the one that is there again, or else the one that should stand here.
func (s *chainScan) named(kind HarmKind) uint64 {
	if kind == HarmDuplicate {
		return s.line.Seq
	}
	return s.seq + 1
}

// begin looks at the first line that is left. If it is not the first of the chain, somebody must have said that those before it
// were pruned.
func (s *chainScan) begin() (err error) {
	s.begun = true
	s.report.First = 1
	if s.line.Seq == 1 || !s.line.In(s.report.Chain) {
		return nil
	}
	if s.v.pruned == nil {
		if s.v.pruned, err = findPruned(s.v.fsys); err != nil {
			return err
		}
	}
	for _, p := range s.v.pruned[s.report.Chain] {
		if p.Size+1 == s.line.Seq {
			s.seq, s.last = p.Size, p.Last
			s.tree = frontier{size: int64(p.Size), edges: slices.Clone(p.Tree)} //nolint:gosec // a seq has at most 18 digits
			s.treeless = len(p.Tree) == 0
			s.report.First, s.report.Pruned = s.line.Seq, p.Size
			return nil
		}
	}
	return nil
}

func (s *chainScan) accept() {
	s.seq, s.last, s.time = s.line.Seq, s.line.Hash, s.line.Time.UnixMicro()
	s.recent[s.seq%recentHashes] = s.last
	s.tree.push(s.leaves.sum(s.at.bytes))
	s.report.Entries++
	s.report.Bytes += int64(len(s.at.bytes)) + 1
	if s.report.Entries == 1 {
		s.report.Begin = s.line.Time
	}
	s.v.progress(int64(len(s.at.bytes)) + 1)
}

// inside looks at what the ledger's own entries say.
func (s *chainScan) inside() (stop bool, err error) {
	switch s.line.Kind {
	case KindCheckpoint:
		return s.insideCheckpoint()
	case KindRecovered:
		s.v.recovered(s.report.Chain, &s.line)
	case KindSetting, KindFailure, KindSuccess, KindEnter, KindExit, KindReserve, KindComplete, KindAttempt:
	}
	return false, nil
}

// insideCheckpoint demands that the checkpoint an entry holds is also in the chain's file: it was written there first.
func (s *chainScan) insideCheckpoint() (stop bool, err error) {
	var inside struct {
		Data struct {
			Note   string `json:"note"`
			Closed bool   `json:"closed"`
		} `json:"data"`
	}
	if err := json.Unmarshal(s.at.bytes, &inside); err != nil {
		s.harm(HarmBadLine, s.seq, "the checkpoint in the entry cannot be read")
		return true, nil
	}
	s.closed = inside.Data.Closed
	if s.witnesses[0].holds(inside.Data.Note) {
		return false, nil
	}
	if _, flaw := readStatement(inside.Data.Note, s.v.keys); flaw != nil {
		s.harm(flaw.kind, s.seq, "the checkpoint in the entry cannot be believed: "+flaw.why)
		return true, nil
	}
	s.harm(HarmCheckpointMissing, s.seq, "the checkpoint in the entry is not in the chain's file of checkpoints")
	return true, nil
}

// harm records the first harm of the chain.
func (s *chainScan) harm(kind HarmKind, seq uint64, text string) {
	s.report.Harm = &Harm{Kind: kind, Chain: s.report.Chain, Seq: seq, File: s.at.file, Offset: s.at.offset, Text: text}
	s.end()
}

func (s *chainScan) end() {
	s.report.Size, s.report.Last, s.report.Closed = s.seq, s.last.String(), s.closed
	s.report.Covered = s.covered
	if s.report.Entries > 0 {
		s.report.End = microTime(s.time)
	}
	for _, w := range s.witnesses {
		s.report.Checkpoints += w.count
	}
	if !s.treeless {
		s.report.Root = s.tree.root().String()
	}
}
