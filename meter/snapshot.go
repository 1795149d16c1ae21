package meter

import (
	"cmp"
	"slices"

	"github.com/candor-mcp/candor"
)

// Snapshot is the state of the counters as rows, for exporters. Rows that are zero are omitted; the order is stable.
type Snapshot struct {
	Total      uint64
	Codes      []CodeCount   // by number
	Tools      []ToolCount   // by tool, then verdict
	Series     []Series      // the finest rows; Tools are sums of them, and so are Codes unless sampling is on
	Servers    []ServerCount // by name; empty unless [Meter.CountServer] is called
	Suppressed uint64
	Suspected  uint64 // included in Suppressed
	Unrecorded []CodeCount
	Sample     *SampleStats // which numbers are estimates; nil if none
}

// CodeCount is the number of failures with a code.
type CodeCount struct {
	Code  candor.Code
	Count uint64
}

// ToolCount is the number of failures of a tool with a verdict.
type ToolCount struct {
	Tool, Verdict string
	Count         uint64
}

// Series is one counter of the meter.
type Series struct {
	Tool, Verdict string
	Code          candor.Code
	Count         uint64
}

// Snapshot returns the current counters. The caller owns the result. Its numbers never decrease from one snapshot to the next.
func (m *Meter) Snapshot() Snapshot {
	if m == nil {
		return Snapshot{}
	}
	s := m.now.snapshot(m.codes)
	if m.sampler != nil {
		s.Total, s.Codes = m.exact()
		s.Sample = m.sampler.stats(m.codes)
	}
	s.Servers = m.servers.snapshot()
	s.Suspected = m.suspected.Load() // read first, so that it never exceeds the counter that includes it
	s.Suppressed = m.suppressed.Load()
	for slot := range m.unrecorded {
		if n := m.unrecorded[slot].Load(); n > 0 {
			s.Unrecorded = append(s.Unrecorded, CodeCount{m.codes.codes[slot], n})
		}
	}
	return s
}

// exact returns the counts that a sampler keeps exactly.
func (m *Meter) exact() (total uint64, rows []CodeCount) {
	bySlot := make([]uint64, len(m.codes.codes))
	for slot := range bySlot {
		bySlot[slot] = m.sampler.seen(slot)
		total += bySlot[slot]
	}
	return total, m.codes.counts(bySlot)
}

// snapshot reads every counter once and computes the sums.
func (g *grid) snapshot(codes *codeTable) (s Snapshot) {
	byCode := make([]uint64, len(codes.codes))
	byTool := map[ToolCount]uint64{}
	for c := range g.each {
		s.Total += c.count
		byCode[c.slot] += c.count
		byTool[ToolCount{Tool: c.tool, Verdict: verdicts[c.verdict]}] += c.count
		s.Series = append(s.Series, Series{c.tool, verdicts[c.verdict], codes.codes[c.slot], c.count})
	}
	s.Codes = codes.counts(byCode)
	for t, n := range byTool {
		t.Count = n
		s.Tools = append(s.Tools, t)
	}
	slices.SortFunc(s.Tools, func(a, b ToolCount) int {
		return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Verdict, b.Verdict))
	})
	slices.SortFunc(s.Series, func(a, b Series) int {
		return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Verdict, b.Verdict), cmp.Compare(a.Code.Number(), b.Code.Number()))
	})
	return s
}

// counts returns the rows of the codes that occurred.
func (t *codeTable) counts(bySlot []uint64) (rows []CodeCount) {
	for slot, n := range bySlot {
		if n > 0 {
			rows = append(rows, CodeCount{t.codes[slot], n})
		}
	}
	return rows
}
