package meter

import (
	"cmp"
	"slices"

	"github.com/candor-mcp/candor"
)

// Snapshot is the state of the counters as rows, for exporters. Rows that are zero are omitted; the order is stable.
type Snapshot struct {
	Total      uint64
	Codes      []Series // by number of the code
	Tools      []Series // by tool, then verdict
	Series     []Series // by tool, verdict and code; Tools are sums of them, and so are Codes unless sampling is on
	Servers    []Series // by server, then verdict; empty unless [Meter.CountServer] is called
	Suppressed uint64
	Suspected  uint64       // included in Suppressed
	Unrecorded []Series     // by number of the code
	Sample     *SampleStats // which numbers are estimates; nil if none
}

// Series is one row of a [Snapshot]: a count, and those of the other members by which it is split.
type Series struct {
	Server  string
	Tool    string
	Verdict string // the name of a verdict of the contract, or "suspected"
	Code    candor.Code
	Count   uint64
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
	s.Servers = m.serverCounts()
	s.Suspected = m.suspected.Load() // read first, so that it never exceeds the counter that includes it
	s.Suppressed = m.suppressed.Load()
	for slot := range m.unrecorded {
		if n := m.unrecorded[slot].Load(); n > 0 {
			s.Unrecorded = append(s.Unrecorded, Series{Code: m.codes.codes[slot], Count: n})
		}
	}
	return s
}

// exact returns the counts that a sampler keeps exactly.
func (m *Meter) exact() (total uint64, rows []Series) {
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
	byTool := map[Series]uint64{}
	for c := range g.each {
		s.Total += c.count
		byCode[c.slot] += c.count
		byTool[Series{Tool: c.tool, Verdict: verdicts[c.verdict]}] += c.count
		s.Series = append(s.Series, Series{Tool: c.tool, Verdict: verdicts[c.verdict], Code: codes.codes[c.slot], Count: c.count})
	}
	s.Codes = codes.counts(byCode)
	for t, n := range byTool {
		t.Count = n
		s.Tools = append(s.Tools, t)
	}
	slices.SortFunc(s.Tools, bySeries)
	slices.SortFunc(s.Series, bySeries)
	return s
}

func bySeries(a, b Series) int {
	return cmp.Or(cmp.Compare(a.Server, b.Server), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Verdict, b.Verdict),
		cmp.Compare(a.Code.Number(), b.Code.Number()))
}

// counts returns the rows of the codes that occurred.
func (t *codeTable) counts(bySlot []uint64) (rows []Series) {
	for slot, n := range bySlot {
		if n > 0 {
			rows = append(rows, Series{Code: t.codes[slot], Count: n})
		}
	}
	return rows
}

// CountServer counts a failure that was also passed to [Meter.Count] by its outcome and the server it is from, for a process in front of
// several servers. The first [Options.MaxTools] names get a label; all others count as "other". It does not allocate for a name
// that was seen before.
func (m *Meter) CountServer(name, outcome string) {
	if m == nil || name == "" {
		return
	}
	v := verdictOf(outcome)
	if v == verdictClean {
		v = verdictOther
	}
	row, ok := (*m.servers.rows.Load())[name]
	if !ok {
		row = m.servers.row(Label(name))
	}
	row.add(v, 0, 1)
}

// serverCounts returns the counts that are not zero.
func (m *Meter) serverCounts() (rows []Series) {
	for c := range m.servers.each {
		rows = append(rows, Series{Server: c.tool, Verdict: verdicts[c.verdict], Count: c.count})
	}
	slices.SortFunc(rows, bySeries)
	return rows
}
