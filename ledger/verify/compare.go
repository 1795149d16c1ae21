package verify

import (
	"errors"
	"fmt"
	"io"

	"github.com/candor-mcp/candor/internal/checkpoint"
	"github.com/candor-mcp/candor/internal/segment"
)

// meet compares the chain with every checkpoint and every claim about the entries read so far. It is called after the
// next line was read: a checkpoint over the entries before that line was written before the line, so it is visible
// now.
func (s *chainScan) meet() (stop bool, err error) {
	for len(s.claims) > 0 && s.claims[0].size <= s.seq {
		c := s.claims[0]
		s.claims = s.claims[1:]
		if c.size == s.seq && c.last != s.last {
			s.damage(kindBrokenLink, s.seq, c.by+" recorded another hash for the entry")
			return true, nil
		}
	}
	for i, w := range s.witnesses {
		for {
			due, damage, err := w.look()
			if err != nil {
				return true, err
			}
			if damage != nil {
				s.adopt(damage)
				return true, nil
			}
			if due == nil || due.Size > int64(s.seq) { //nolint:gosec // a seq has at most 18 digits
				break
			}
			if !s.agrees(due) {
				return true, nil
			}
			s.signed = max(s.signed, uint64(due.Size)) //nolint:gosec // it was read as a size
			if s.unfiled != nil && i == 0 && !w.debris {
				s.adopt(s.unfiled) // a crash loses the newest blocks, not older ones
				return true, nil
			}
			if i == 0 {
				s.covered = max(s.covered, uint64(due.Size)) //nolint:gosec // it was read as a size
			} else {
				s.report.Witnessed = max(s.report.Witnessed, uint64(due.Size)) //nolint:gosec // as above
			}
			w.done()
		}
	}
	if s.begun && s.seq > max(s.covered, s.report.Pruned)+checkpointEvery {
		s.damage(kindCheckpointMissing, s.covered+1, fmt.Sprintf("%d entries follow the last checkpoint", s.seq-s.covered))
		return true, nil
	}
	return false, nil
}

// agrees compares one checkpoint with the chain.
func (s *chainScan) agrees(due *checkpoint.Statement) bool {
	size := uint64(due.Size) //nolint:gosec // it was read as a size
	switch {
	case size < s.report.Pruned, size == 0:
		return true // there is nothing left to compare it with; its signature is valid
	case size == s.seq && due.Last == s.last && due.Root == s.tree.Root():
		return true
	case size < s.seq && s.seq-size < recentHashes && s.recent[size%recentHashes] == due.Last:
		return true // read late; its last hash covers all entries before it
	}
	s.adopt(&Damage{Kind: kindRootMismatch, Chain: s.report.Chain, Seq: size, File: due.File, Offset: due.Offset,
		Text: fmt.Sprintf("the first %d entries are not those that the checkpoint covers", size)})
	return false
}

// adopt records damage that was found outside the chain's entries.
func (s *chainScan) adopt(h *Damage) {
	s.report.Damage = h
	s.end()
}

// atEnd is called when there are no more lines. It reports whether to look for lines again, because a checkpoint
// that was written meanwhile may cover more entries.
func (s *chainScan) atEnd() (more bool, err error) {
	if stop, err := s.meet(); stop || err != nil {
		return false, err
	}
	if !s.vouched() && len(s.claims) == 0 {
		return false, s.finish()
	}
	line, err := s.lines.Next()
	if errors.Is(err, io.EOF) {
		return false, s.finish()
	}
	if err != nil {
		return false, err
	}
	stop, err := s.take(line)
	return !stop, err
}

// finish checks the end of the chain for missing entries and for excess bytes.
func (s *chainScan) finish() error {
	tail, offset := s.lines.Tail()
	s.at = segment.Line{File: s.lines.Name, Offset: offset}
	s.report.Torn = max(s.report.Torn, int64(len(tail)))
	if gone, err := s.allPruned(); gone || err != nil {
		return err
	}
	if s.lost != nil {
		s.damage(kindTruncated, s.seq+1, fmt.Sprintf("entries %d to %d are missing: a checkpoint in %s covers them", s.seq+1, s.lost.Size, s.lost.File))
		return nil
	}
	if len(s.claims) > 0 {
		c := s.claims[len(s.claims)-1]
		s.damage(kindTruncated, s.seq+1, fmt.Sprintf("entries %d to %d are missing: %s names them", s.seq+1, c.size, c.by))
		s.report.Damage.Absent = true
		return nil
	}
	if s.report.Torn > 0 && s.closed {
		s.damage(kindTornTail, s.seq+1, "bytes follow the end of a closed chain")
		return nil
	}
	if len(tail) > 0 && !s.couldBeTorn(tail, offset) {
		s.damage(kindBadLine, s.seq+1, "the bytes at the end are not the start of an entry")
		return nil
	}
	s.end()
	return nil
}
