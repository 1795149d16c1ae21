package store

import (
	"database/sql"
	"errors"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/rules"
)

const roundColumns = "id, topic, proposal, proposer, quorum, nonce, created_at, state, coalesce(decided_at, '')"

// InsertRound stores a new round with its voters.
func (t *Tx) InsertRound(r *rules.Round) error {
	err := t.exec("INSERT INTO rounds SELECT ?, coalesce(max(number), 0) + 1, ?, ?, ?, ?, ?, ?, ?, NULL FROM rounds",
		r.ID, r.Topic, r.Proposal, r.Proposer, r.Quorum, r.Nonce, r.CreatedAt, string(r.State))
	if err != nil {
		return err
	}
	for _, voter := range r.Voters {
		if err := t.exec("INSERT INTO voters VALUES (?, ?)", r.ID, voter); err != nil {
			return err
		}
	}
	return nil
}

// Round returns a round with its voters, votes and equivocations, or [ErrNotFound].
func (t *Tx) Round(id string) (*rules.Round, error) {
	var r rules.Round
	err := t.row("SELECT "+roundColumns+" FROM rounds WHERE id = ?", id).
		Scan(&r.ID, &r.Topic, &r.Proposal, &r.Proposer, &r.Quorum, &r.Nonce, &r.CreatedAt, &r.State, &r.DecidedAt)
	if err != nil {
		return nil, notFound(err)
	}
	r.Votes = []rules.Vote{}
	err = t.rows(func(rows *sql.Rows) error {
		var voter, choice, at string
		if err := rows.Scan(&voter, &choice, &at); err != nil {
			return err
		}
		r.Voters = append(r.Voters, voter)
		if choice != "" {
			r.Votes = append(r.Votes, rules.Vote{Voter: voter, Choice: rules.Choice(choice), CastAt: at})
		}
		return nil
	}, `SELECT v.voter, coalesce(c.choice, ''), coalesce(c.cast_at, '') FROM voters v
		LEFT JOIN votes c ON c.round_id = v.round_id AND c.voter = v.voter WHERE v.round_id = ? ORDER BY v.voter`, id)
	if err != nil {
		return nil, err
	}
	r.Equivocations, err = collect(t, func(e *rules.SecondVote) []any { return []any{&e.RoundID, &e.Voter, &e.First, &e.Attempted, &e.At} },
		"SELECT round_id, voter, first, attempted, at FROM equivocations WHERE round_id = ? ORDER BY voter", id)
	return &r, err
}

// InsertVote stores a vote and the resulting state, or returns [ErrUnique] if the voter has voted.
func (t *Tx) InsertVote(r *rules.Round, v rules.Vote) error {
	if err := t.exec("INSERT INTO votes VALUES (?, ?, ?, ?)", r.ID, v.Voter, string(v.Choice), v.CastAt); err != nil {
		return err
	}
	return t.exec("UPDATE rounds SET state = ?, decided_at = nullif(?, '') WHERE id = ?", string(r.State), r.DecidedAt, r.ID)
}

// InsertEquivocation stores the first equivocation of a voter in a round, and reports whether it was the first.
// Repetitions are not stored, because they add no evidence and would fill the database.
func (t *Tx) InsertEquivocation(e rules.SecondVote) (first bool, err error) {
	err = t.row("INSERT INTO equivocations (round_id, voter, first, attempted, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING true",
		e.RoundID, e.Voter, string(e.First), string(e.Attempted), e.At).Scan(&first)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return first, err
}

// NumberedRound is the id of a round and its number in the order of proposals.
type NumberedRound struct {
	ID     string
	Number int64
}

// RoundIDs returns the rounds that were proposed after a number, in order.
func (t *Tx) RoundIDs(after int64, limit int) ([]NumberedRound, error) {
	return collect(t, func(n *NumberedRound) []any { return []any{&n.ID, &n.Number} },
		"SELECT id, number FROM rounds WHERE number > ? ORDER BY number LIMIT ?", after, limit)
}

// Outcome is one recorded action of an agent.
type Outcome struct {
	Number  int64      `json:"number"`
	AgentID string     `json:"agent_id"`
	Kind    rules.Kind `json:"kind"`
	Weight  float64    `json:"weight"`
	Subject string     `json:"subject"` // the id of the task or round
	At      string     `json:"at"`
}

// InsertOutcome stores an outcome. It does nothing if agent is empty.
func (t *Tx) InsertOutcome(agent string, kind rules.Kind, subject, at string) error {
	if agent == "" {
		return nil
	}
	return t.exec("INSERT INTO outcomes (agent_id, kind, subject, at) VALUES (?, ?, ?, ?)", agent, string(kind), subject, at)
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
		all[i].Weight = rules.Weights[all[i].Kind]
	}
	return all, err
}

// OutcomeCounts returns the number of outcomes of each kind by agent; "" selects all agents.
func (t *Tx) OutcomeCounts(agent string) (map[string]map[rules.Kind]int, error) {
	counts := map[string]map[rules.Kind]int{}
	var c conditions
	c.equal("agent_id", agent)
	err := t.rows(func(r *sql.Rows) error {
		var of string
		var kind rules.Kind
		var n int
		if err := r.Scan(&of, &kind, &n); err != nil {
			return err
		}
		if counts[of] == nil {
			counts[of] = map[rules.Kind]int{}
		}
		counts[of][kind] = n
		return nil
	}, "SELECT agent_id, kind, count(*) FROM outcomes"+c.where()+"GROUP BY agent_id, kind", c.args...)
	return counts, err
}

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
	err := t.exec("INSERT INTO calls (upstream, tool, code, latency_us, cost, at) VALUES (?, ?, ?, ?, ?, ?)",
		c.Upstream, c.Tool, c.Code, c.Latency.Microseconds(), c.Cost, c.At)
	if err != nil {
		return err
	}
	return t.exec("DELETE FROM calls WHERE upstream = ?1 AND number <= (SELECT number FROM calls WHERE upstream = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)",
		c.Upstream, keptCalls)
}

// Calls returns the last calls of an upstream, newest first; an empty tool selects all tools.
func (t *Tx) Calls(upstream, tool string, limit int) ([]MeasuredCall, error) {
	return collect(t, func(c *MeasuredCall) []any { return []any{&c.Upstream, &c.Tool, &c.Code, &c.Latency, &c.Cost, &c.At} },
		"SELECT upstream, tool, code, latency_us * 1000, cost, at FROM calls WHERE upstream = ?1 AND (?2 = '' OR tool = ?2) ORDER BY number DESC LIMIT ?3", upstream, tool, limit)
}
