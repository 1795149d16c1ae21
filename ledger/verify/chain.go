package verify

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/candor-mcp/candor/internal/checkpoint"
	"github.com/candor-mcp/candor/internal/segment"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/ledger/internal/tree"
)

// checkpointEvery is the maximum number of entries that may follow a checkpoint before the next one.
const checkpointEvery = 256

// recentHashes is how many entries back a checkpoint can still be compared that is read late because a writer is
// running.
const recentHashes = 1024

// claim is a statement by another chain: the entry with number size of this chain has hash last.
type claim struct {
	size uint64
	last format.Digest
	by   string // who makes the claim, such as "chain NAME"
}

// chainScan reads one chain from its first line to its last. Its fields belong to the goroutine that runs it.
type chainScan struct {
	v         *verification
	lines     *segment.Stream
	leaves    tree.RecordHasher
	tree      tree.Tree
	witnesses []*witness
	claims    []claim // by size; claims that were compared are removed

	line           ledger.Line // the current line
	at             segment.Line
	seq            uint64        // number of the last good line
	last           format.Digest // its hash
	time           int64         // its time in microseconds
	closed         bool
	recent         [recentHashes]format.Digest // by seq
	begun          bool                        // a line was seen
	resumed        bool                        // the segments before the line were pruned
	leftover       bool                        // the line is the last of a chain that was pruned as a whole; the tree before it is unknown
	covered        uint64                      // entries covered by the newest checkpoint, in the chain's file or in an entry
	before         tlog.Hash                   // the root before the current line, if that is a checkpoint
	unfiled        *Damage                     // the first entry with a checkpoint that is not in the chain's file
	lost           *checkpoint.Statement       // a checkpoint over entries that are not there
	signed         uint64                      // entries covered by a checkpoint with a valid signature that was compared
	remarks        []remark                    // statements of the entries about other chains
	pruned         []prunedAt                  // records of retention in the entries
	hasWitnessCopy bool                        // the chain names a witness copy
	kept           uint64                      // entries that the witness copy should cover according to the checkpoint entries
	loose          bool                        // only find out which entries are signed: require no record of pruning, and collect no remarks
	limit          uint64                      // stop after this entry; 0 means no limit
	cover          coverTime

	report Chain
}

// run scans the chain to its end. The report is complete when run returns a nil error.
func (s *chainScan) run() error {
	defer s.close()
	for {
		if s.seq%64 == 0 {
			if err := s.v.ctx.Err(); err != nil {
				return fmt.Errorf("reading chain %s: %w", s.report.Chain, err)
			}
		}
		line, err := s.lines.Next()
		switch {
		case err == nil:
			if stop, err := s.take(line); stop || err != nil {
				return err
			}
		case errors.Is(err, io.EOF):
			more, err := s.atEnd()
			if err != nil || !more {
				return err
			}
		case errors.Is(err, segment.ErrTorn):
			s.at = line
			s.damage(kindTornTail, s.seq+1, "a closed segment ends in half a line")
			return nil
		case errors.Is(err, segment.ErrCorrupt):
			s.at = line
			s.damage(kindBadLine, s.seq+1, err.Error())
			return nil
		default:
			return fmt.Errorf("reading chain %s: %w", s.report.Chain, err)
		}
	}
}

func (s *chainScan) close() {
	_ = s.lines.Close() // only read
	for _, w := range s.witnesses {
		_ = w.notes.Close()
	}
}

// take checks one line, and compares all checkpoints that cover the entries before it.
func (s *chainScan) take(raw segment.Line) (stop bool, err error) {
	s.at = raw
	if stop, err := s.meet(); stop || err != nil {
		return true, err
	}
	if s.limit > 0 && s.seq >= s.limit {
		s.end()
		return true, nil
	}
	s.resumed = false
	kind, why := s.check()
	if kind != "" {
		debris, err := s.debris()
		if err != nil || debris {
			return true, errors.Join(err, s.finish())
		}
		s.damage(kind, s.named(kind), why)
		return true, nil
	}
	if s.resumed && s.limit > 0 && s.seq >= s.limit {
		s.end()
		return true, nil
	}
	if s.resumed { // compare the checkpoints of the pruned entries
		if stop, err := s.meet(); stop || err != nil {
			return true, err
		}
	}
	if s.overdue() {
		return true, nil
	}
	if s.line.Kind == ledger.KindCheckpoint {
		s.before = s.tree.Root()
	}
	s.accept()
	return s.inside()
}

// check compares a line with the previous one. It uses no member of a line before it has checked the hash.
func (s *chainScan) check() (string, string) {
	line, err := ledger.ParseLine(s.at.Bytes)
	switch {
	case errors.Is(err, format.ErrHash):
		return kindBadHash, "the entry was changed: its hash does not fit its bytes"
	case err != nil:
		return kindBadLine, "the line is not an entry"
	}
	s.line = line
	if s.at.First && line.Seq > s.seq+1 && line.In(s.report.Chain) {
		if err := s.resume(); err != nil {
			return kindMissingSegment, err.Error()
		}
	}
	s.begun = true
	if kind, why := s.checkOrder(); kind != "" {
		return kind, why
	}
	if !s.vouched() && !json.Valid(s.at.Bytes) {
		return kindBadLine, "the line is not JSON"
	}
	if line.Prev != s.last {
		return kindBrokenLink, "the entry does not follow the one before it: their hashes differ"
	}
	if line.Time.UnixMicro() < s.time {
		return kindTimeBackwards, "the entry is older than the one before it"
	}
	return "", ""
}

// vouched reports whether a checkpoint that is not compared yet covers the line. If it does, a line that the writer
// did not write causes a root mismatch.
func (s *chainScan) vouched() bool {
	return slices.ContainsFunc(s.witnesses, func(w *witness) bool { return w.due != nil })
}

func (s *chainScan) checkOrder() (string, string) {
	seq := s.line.Seq
	switch {
	case !s.line.In(s.report.Chain):
		return kindWrongChain, "the entry belongs to chain " + s.line.Chain()
	case s.closed:
		return kindWrongSeq, "the entry follows the end of a closed chain"
	case s.leftover && s.report.Entries > 0:
		return kindWrongSeq, "the entry follows the end of a chain that retention removed"
	case seq == s.seq+1:
		return "", ""
	case seq <= s.seq:
		return kindDuplicate, fmt.Sprintf("entry %d is repeated after entry %d", seq, s.seq)
	case s.at.First && (s.lines.Gap || !s.lines.Closed && seq > s.seq+2):
		return kindMissingSegment, fmt.Sprintf("entries %d to %d are missing with their file", s.seq+1, seq-1)
	default:
		return kindWrongSeq, fmt.Sprintf("found entry %[2]d, want %[1]d", s.seq+1, seq)
	}
}

// namedCopies returns the entry to report: the repeated one for a duplicate, otherwise the one that is expected here.
func (s *chainScan) named(kind string) uint64 {
	if kind == kindDuplicate {
		return s.line.Seq
	}
	return s.seq + 1
}

// resume handles a segment that does not follow the previous one, or that is not the first of its chain although no
// other precedes it. An entry must record that the segments between were pruned, and the line must be the checkpoint
// that every segment begins with. It holds the tree up to there; its signature is checked with those of all other
// checkpoints.
func (s *chainScan) resume() error {
	if !s.loose {
		_, found, err := s.v.prunedAs(s.report.Chain, func(p pruning) bool {
			return p.size >= s.line.Seq || p.size+1 == s.line.Seq && p.last == s.line.Prev // some of the segments recorded as pruned may still exist
		})
		if err != nil || !found {
			return err
		}
	}
	inside, err := checkpointIn(&s.line)
	noTree := err != nil || s.line.Kind != ledger.KindCheckpoint || len(inside.Tree) != bits.OnesCount64(s.line.Seq-1)
	if noTree && s.v.entriesOnly && !s.loose {
		if _, s.leftover, err = s.v.prunedAs(s.report.Chain, func(p pruning) bool { return p.size == s.line.Seq && p.last == s.line.Hash }); err != nil {
			return err
		}
	}
	if noTree && !s.leftover {
		return errors.New("the first remaining entry does not hold the tree of the pruned entries")
	}
	s.resumed = true
	s.seq, s.last = s.line.Seq-1, s.line.Prev
	if !s.leftover {
		if s.tree, err = tree.FromEdges(s.seq, inside.Tree); err != nil {
			return err
		}
	}
	s.recent[s.seq%recentHashes] = s.last
	s.report.First, s.report.Pruned = s.line.Seq, s.seq
	s.covered = s.seq
	return nil
}

func (s *chainScan) accept() {
	s.seq, s.last, s.time = s.line.Seq, s.line.Hash, s.line.Time.UnixMicro()
	s.recent[s.seq%recentHashes] = s.last
	if !s.leftover {
		s.tree.Push(s.leaves.Sum(s.at.Bytes))
	}
	s.report.Entries++
	s.report.Bytes += int64(len(s.at.Bytes)) + 1
	if s.report.Entries == 1 {
		s.report.Begin, s.report.First = s.line.Time, s.seq
	}
	if !s.loose {
		s.v.progress(int64(len(s.at.Bytes)) + 1)
	}
}

// damage records the first damage of the chain.
func (s *chainScan) damage(kind string, seq uint64, text string) {
	s.report.Damage = &Damage{Kind: kind, Chain: s.report.Chain, Seq: seq, File: s.at.File, Offset: s.at.Offset, Text: text}
	s.end()
}

func (s *chainScan) end() {
	s.report.Size, s.report.Last, s.report.Closed = s.seq, s.last.String(), s.closed
	s.report.Covered = s.covered
	if s.report.Entries > 0 {
		s.report.End = time.UnixMicro(s.time).UTC()
	}
	for _, w := range s.witnesses {
		s.report.Checkpoints += w.count
	}
	if !s.leftover {
		s.report.Root = s.tree.Root().String()
	}
}
