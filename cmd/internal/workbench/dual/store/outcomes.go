package store

import (
	"database/sql"

	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/reputation"
)

// Outcome is one recorded action of an agent.
type Outcome struct {
	Number  int64           `json:"number"`
	AgentID string          `json:"agent_id"`
	Kind    reputation.Kind `json:"kind"`
	Weight  float64         `json:"weight"`
	Subject string          `json:"subject"` // the id of the task or round
	At      string          `json:"at"`
}

// InsertOutcome stores an outcome. It does nothing if agent is empty.
func (t *Tx) InsertOutcome(agent string, kind reputation.Kind, subject, at string) error {
	if agent == "" {
		return nil
	}
	_, err := t.exec("INSERT INTO outcomes (agent_id, kind, subject, at) VALUES (?, ?, ?, ?)", agent, string(kind), subject, at)
	return err
}

// Outcomes returns outcomes of an agent before a number, newest first; 0 starts with the newest.
func (t *Tx) Outcomes(agent string, before int64, limit int) (all []Outcome, err error) {
	var c conditions
	c.equal("agent_id", agent)
	if before > 0 {
		c.add("number < ?", before)
	}
	all, err = collect(t, func(o *Outcome) []any { return []any{&o.Number, &o.AgentID, &o.Kind, &o.Subject, &o.At} },
		"SELECT number, agent_id, kind, subject, at FROM outcomes"+c.where()+"ORDER BY number DESC LIMIT ?", append(c.args, limit)...)
	for i := range all {
		all[i].Weight = all[i].Kind.Weight()
	}
	return all, err
}

// OutcomeCounts returns the number of outcomes of each kind by agent; "" selects all agents.
func (t *Tx) OutcomeCounts(agent string) (map[string]map[reputation.Kind]int, error) {
	counts := map[string]map[reputation.Kind]int{}
	var c conditions
	c.equal("agent_id", agent)
	err := t.rows(func(r *sql.Rows) error {
		var of string
		var kind reputation.Kind
		var n int
		if err := r.Scan(&of, &kind, &n); err != nil {
			return err
		}
		if counts[of] == nil {
			counts[of] = map[reputation.Kind]int{}
		}
		counts[of][kind] = n
		return nil
	}, "SELECT agent_id, kind, count(*) FROM outcomes"+c.where()+"GROUP BY agent_id, kind", c.args...)
	return counts, err
}
