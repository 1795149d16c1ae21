package verify

import (
	"fmt"
	"time"

	"github.com/candor-mcp/candor/ledger"
)

// coverTime finds missing checkpoints by the times of the entries. A writer that states a limit in the first entry of
// its chain signs a checkpoint before it writes an entry that is more than this limit later than the oldest uncovered
// entry. The writer decides by the times in the entries, so slow disks, suspended machines and changed clocks cause
// no false alarm; a killed writer leaves uncovered entries only at the end. Chains of earlier versions state no limit
// and are not checked.
type coverTime struct {
	within time.Duration // the limit; 0 if the chain states none
	seq    uint64        // the oldest uncovered entry that is not a checkpoint
	time   time.Time     // time of that entry
}

// coverSlack is added to the limit, for other implementations of the writer.
const coverSlack = time.Second

// maxPromise bounds the limit that is read from a chain.
const maxPromise = time.Hour

func (c *coverTime) promise(ms int64) {
	if ms > 0 && ms <= maxPromise.Milliseconds() {
		c.within = time.Duration(ms) * time.Millisecond
	}
}

// overdue checks the next line, which is valid, and reports damage if a checkpoint should precede it.
func (s *chainScan) overdue() bool {
	if s.line.Kind == ledger.KindCheckpoint {
		return false // it covers all entries before it
	}
	c := &s.cover
	if c.seq <= s.covered {
		c.seq, c.time = s.line.Seq, s.line.Time
		return false
	}
	late := s.line.Time.Sub(c.time)
	if c.within == 0 || late <= c.within+coverSlack {
		return false
	}
	s.damage(kindCheckpointMissing, c.seq, fmt.Sprintf("no checkpoint covers the entry, although entry %d was written %s later: one was due after %s",
		s.line.Seq, late.Round(time.Millisecond), c.within))
	return true
}
