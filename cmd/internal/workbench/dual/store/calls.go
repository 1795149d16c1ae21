package store

import "time"

// MeasuredCall is one call of an upstream.
type MeasuredCall struct {
	Upstream string
	Tool     string
	Code     string // of the failure, "" for a success
	Latency  time.Duration
	Cost     float64
	At       string
}

// keptCalls is the number of calls that are stored for each upstream.
const keptCalls = 1000

// InsertCall stores a measured call and deletes old ones.
func (t *Tx) InsertCall(c *MeasuredCall) error {
	_, err := t.exec("INSERT INTO calls (upstream, tool, code, latency_us, cost, at) VALUES (?, ?, ?, ?, ?, ?)",
		c.Upstream, c.Tool, c.Code, c.Latency.Microseconds(), c.Cost, c.At)
	if err != nil {
		return err
	}
	_, err = t.exec("DELETE FROM calls WHERE upstream = ?1 AND number <= (SELECT number FROM calls WHERE upstream = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)",
		c.Upstream, keptCalls)
	return err
}

// Calls returns the last calls of an upstream, newest first; an empty tool selects all tools.
func (t *Tx) Calls(upstream, tool string, limit int) ([]MeasuredCall, error) {
	return collect(t, func(c *MeasuredCall) []any { return []any{&c.Upstream, &c.Tool, &c.Code, &c.Latency, &c.Cost, &c.At} },
		"SELECT upstream, tool, code, latency_us * 1000, cost, at FROM calls WHERE upstream = ?1 AND (?2 = '' OR tool = ?2) ORDER BY number DESC LIMIT ?3", upstream, tool, limit)
}
