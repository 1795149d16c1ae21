package meter

import (
	"encoding/json"
	"strconv"
)

// Breakdown is a total and its parts. Its maps are never nil, and their JSON members are sorted.
type Breakdown struct {
	Total uint64 `json:"total"`

	// ByCode is keyed by the decimal number that a JSON-RPC error of this code carries ([candor.CodeInfo]): "2300" from
	// the taxonomy, or "-32601" where the protocol defines a number. BySymbol distinguishes codes that share a number.
	ByCode map[string]uint64 `json:"byCode"`

	ByDomain map[string]uint64            `json:"byDomain"`
	BySymbol map[string]uint64            `json:"bySymbol"`
	ByTool   map[string]map[string]uint64 `json:"byTool"` // tool, then verdict
}

// Stats is the answer to sys/errorStats: the failures since the process started.
type Stats struct {
	Breakdown

	// ByServer has the failures by server if they were counted with [Meter.CountServer]. They are exact.
	ByServer map[string]uint64 `json:"byServer,omitempty"`

	Suppressed uint64       `json:"suppressed"`         // counted, but not sent; included in the total
	Suspected  uint64       `json:"suspected"`          // only suspected, and passed on unchanged; included in Suppressed
	Unrecorded uint64       `json:"unrecorded"`         // sent, but not recorded; not included in the total
	Sample     *SampleStats `json:"sample,omitempty"`   // nil if everything is counted in full
	Lifetime   *Breakdown   `json:"lifetime,omitempty"` // the counts from [Meter.Restore] plus those since then; nil without Restore
}

// SampleStats describes which numbers of a [Stats] are estimates, and how accurate they are. The total and the counts by code
// are always exact.
type SampleStats struct {
	Method string  `json:"method"`          // "every" or "bucket"
	Every  int     `json:"every,omitempty"` // one of this many failures is kept
	Rate   float64 `json:"rate,omitempty"`  // failures kept per second, for each code
	Burst  int     `json:"burst,omitempty"` // failures kept at once, for each code

	Estimated []string `json:"estimated"` // the members that are estimates
	Error     string   `json:"error"`     // the error bound, as a formula

	// NotKept is the number of failures by symbol with estimated tool and verdict; only for "bucket".
	NotKept map[string]uint64 `json:"notKept,omitempty"`
}

// Stats returns the current counters. The caller owns the result. A nil Meter has empty stats.
func (m *Meter) Stats() Stats {
	snapshot := m.Snapshot()
	stats := Stats{
		Breakdown:  snapshot.breakdown(),
		Suppressed: snapshot.Suppressed,
		Suspected:  snapshot.Suspected,
		Sample:     snapshot.Sample,
	}
	for _, n := range snapshot.Servers {
		if stats.ByServer == nil {
			stats.ByServer = map[string]uint64{}
		}
		stats.ByServer[n.Server] += n.Count
	}
	for _, n := range snapshot.Unrecorded {
		stats.Unrecorded += n.Count
	}
	if m == nil {
		return stats
	}
	if past := m.past.Load(); past != nil {
		lifetime := snapshot.breakdown()
		lifetime.add(past.snapshot(m.codes))
		stats.Lifetime = &lifetime
	}
	return stats
}

// AppendStats appends the JSON encoding of [Meter.Stats] to dst.
func (m *Meter) AppendStats(dst []byte) []byte {
	text, err := json.Marshal(m.Stats())
	if err != nil { // numbers and clean strings can always be encoded
		return append(dst, "{}"...)
	}
	return append(dst, text...)
}

func (s *Snapshot) breakdown() Breakdown {
	b := Breakdown{
		ByCode: map[string]uint64{}, ByDomain: map[string]uint64{}, BySymbol: map[string]uint64{},
		ByTool: map[string]map[string]uint64{},
	}
	b.add(*s)
	return b
}

func (b *Breakdown) add(s Snapshot) {
	b.Total += s.Total
	for _, c := range s.Codes {
		b.ByCode[strconv.Itoa(c.Code.Info().RPCNumber)] += c.Count
		b.ByDomain[c.Code.Domain()] += c.Count
		b.BySymbol[c.Code.Symbol()] += c.Count
	}
	for _, t := range s.Tools {
		verdicts := b.ByTool[t.Tool]
		if verdicts == nil {
			verdicts = map[string]uint64{}
			b.ByTool[t.Tool] = verdicts
		}
		verdicts[t.Verdict] += t.Count
	}
}
