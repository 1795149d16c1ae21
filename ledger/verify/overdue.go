package verify

import (
	"fmt"
	"time"

	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/ledger/internal/format"
)

// coverTime finds checkpoints that are missing by the times of the entries. A writer that says so in the first entry of its chain never
// writes an entry later than that after an uncovered one: it signs a checkpoint first. It decides by the times that stand in the entries,
// so that slow disks, suspended machines and clocks that were set cause no false alarm; a killed writer leaves uncovered entries only at
// the end. Chains of earlier versions do not promise it and are not judged.
type coverTime struct {
	within time.Duration // 0 if the chain promises nothing
	seq    uint64        // the oldest uncovered entry that is not a checkpoint
	time   time.Time     // when that was written
}

// coverSlack is added to what a writer promises, for writers that are not this package's.
const coverSlack = time.Second

// maxPromise bounds what is read from a chain.
const maxPromise = time.Hour

func (c *coverTime) readPromise(line *ledger.Line) {
	var data struct {
		Within int64 `json:"checkpoint_ms"`
	}
	if format.DecodeData(line.Raw(), &data) == nil {
		c.promise(data.Within)
	}
}

func (c *coverTime) promise(ms int64) {
	if ms > 0 && ms <= maxPromise.Milliseconds() {
		c.within = time.Duration(ms) * time.Millisecond
	}
}

// overdue looks at the next line, which is sound, and reports as damage that a checkpoint should stand before it.
func (s *chainScan) overdue() bool {
	if s.line.Kind == ledger.KindCheckpoint {
		return false // it covers all before it
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
	s.damage(KindCheckpointMissing, c.seq, fmt.Sprintf("no checkpoint covers the entry, although entry %d was written %s later: one was due after %s",
		s.line.Seq, late.Round(time.Millisecond), c.within))
	return true
}
