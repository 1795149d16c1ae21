package store

import (
	"database/sql"
	"time"
)

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
func (t *Tx) Calls(upstream, tool string, limit int) (all []MeasuredCall, err error) {
	err = t.rows(func(r *sql.Rows) error {
		c := MeasuredCall{Upstream: upstream}
		var us int64
		err := r.Scan(&c.Tool, &c.Code, &us, &c.Cost, &c.At)
		c.Latency = time.Duration(us) * time.Microsecond
		all = append(all, c)
		return err
	}, "SELECT tool, code, latency_us, cost, at FROM calls WHERE upstream = ?1 AND (?2 = '' OR tool = ?2) ORDER BY number DESC LIMIT ?3", upstream, tool, limit)
	return all, err
}
