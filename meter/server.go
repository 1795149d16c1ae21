package meter

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// Suspected is the outcome of an answer that only looks like a failure and was passed on unchanged.
const Suspected = "suspected"

// outcomes are the names of the verdicts, and Suspected.
var outcomes = [...]string{"protocol", "tool", "masked", "malformed", "lost", "stray", Suspected, Other}

// outcomeOf returns the index of an outcome in [outcomes]; a name that is not there counts as [Other].
func outcomeOf(name string) int {
	if i := slices.Index(outcomes[:], name); i >= 0 {
		return i
	}
	return len(outcomes) - 1
}

// serverRow has a counter for each outcome.
type serverRow [len(outcomes)]atomic.Uint64

// serverCounts has the counters of each server. Names beyond the limit count as [Other].
type serverCounts struct {
	rows atomic.Pointer[map[string]*serverRow] // copied on write, so that readers need no lock; nil until the first failure
	grow sync.Mutex                            // held to replace rows
}

// ServerCount is the number of failures of a server.
type ServerCount struct {
	Server   string
	Count    uint64         // the sum of Outcomes
	Outcomes []OutcomeCount // those that occurred, by name
}

// OutcomeCount is the number of failures with an outcome: the name of a verdict of the contract, or [Suspected].
type OutcomeCount struct {
	Outcome string
	Count   uint64
}

// CountServer counts a failure that was also passed to Count by its outcome and the server it is from, for a process in front of
// several servers. The first [Options.MaxTools] names get a label; all others count as "other". It does not allocate for a name
// that was seen before.
func (m *Meter) CountServer(name, outcome string) {
	if m == nil || name == "" {
		return
	}
	if rows := m.servers.rows.Load(); rows != nil {
		if row, ok := (*rows)[name]; ok {
			row[outcomeOf(outcome)].Add(1)
			return
		}
	}
	m.servers.admit(name, m.options.MaxTools)[outcomeOf(outcome)].Add(1)
}

// admit returns the counters of a new name, or those of Other if there are too many.
func (s *serverCounts) admit(name string, limit int) *serverRow {
	s.grow.Lock()
	defer s.grow.Unlock()
	rows := map[string]*serverRow{Other: new(serverRow)}
	if before := s.rows.Load(); before != nil {
		rows = *before
	}
	if name = Label(name); rows[name] != nil {
		return rows[name]
	}
	if len(rows) > limit {
		return rows[Other]
	}
	rows = maps.Clone(rows)
	rows[name] = new(serverRow)
	s.rows.Store(&rows)
	return rows[name]
}

// snapshot returns the counts that are not zero, by name.
func (s *serverCounts) snapshot() (counts []ServerCount) {
	rows := s.rows.Load()
	if rows == nil {
		return nil
	}
	for name, row := range *rows {
		server := ServerCount{Server: name}
		for i := range row {
			if n := row[i].Load(); n > 0 {
				server.Count += n
				server.Outcomes = append(server.Outcomes, OutcomeCount{outcomes[i], n})
			}
		}
		if server.Count > 0 {
			slices.SortFunc(server.Outcomes, func(a, b OutcomeCount) int { return cmp.Compare(a.Outcome, b.Outcome) })
			counts = append(counts, server)
		}
	}
	slices.SortFunc(counts, func(a, b ServerCount) int { return cmp.Compare(a.Server, b.Server) })
	return counts
}
