package store

import (
	"database/sql"

	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/consensus"
)

const roundColumns = "id, topic, proposal, proposer, quorum, nonce, created_at, state, coalesce(decided_at, '')"

// InsertRound stores a new round with its voters.
func (t *Tx) InsertRound(r *consensus.Round) error {
	_, err := t.exec("INSERT INTO rounds SELECT ?, coalesce(max(number), 0) + 1, ?, ?, ?, ?, ?, ?, ?, NULL FROM rounds",
		r.ID, r.Topic, r.Proposal, r.Proposer, r.Quorum, r.Nonce, r.CreatedAt, string(r.State))
	if err != nil {
		return err
	}
	for _, voter := range r.Voters {
		if _, err := t.exec("INSERT INTO voters VALUES (?, ?)", r.ID, voter); err != nil {
			return err
		}
	}
	return nil
}

// Round returns a round with its voters and votes, or [ErrNotFound].
func (t *Tx) Round(id string) (*consensus.Round, error) {
	var r consensus.Round
	err := t.row("SELECT "+roundColumns+" FROM rounds WHERE id = ?", id).
		Scan(&r.ID, &r.Topic, &r.Proposal, &r.Proposer, &r.Quorum, &r.Nonce, &r.CreatedAt, &r.State, &r.DecidedAt)
	if err != nil {
		return nil, notFound(err)
	}
	r.Votes = []consensus.Vote{}
	err = t.rows(func(rows *sql.Rows) error {
		var voter, choice, at string
		if err := rows.Scan(&voter, &choice, &at); err != nil {
			return err
		}
		r.Voters = append(r.Voters, voter)
		if choice != "" {
			r.Votes = append(r.Votes, consensus.Vote{Voter: voter, Choice: consensus.Choice(choice), CastAt: at})
		}
		return nil
	}, `SELECT v.voter, coalesce(c.choice, ''), coalesce(c.cast_at, '') FROM voters v
		LEFT JOIN votes c ON c.round_id = v.round_id AND c.voter = v.voter WHERE v.round_id = ? ORDER BY v.voter`, id)
	return &r, err
}

// InsertVote stores a vote and the resulting state, or returns [ErrUnique] if the voter has voted.
func (t *Tx) InsertVote(r *consensus.Round, v consensus.Vote) error {
	if _, err := t.exec("INSERT INTO votes VALUES (?, ?, ?, ?)", r.ID, v.Voter, string(v.Choice), v.CastAt); err != nil {
		return err
	}
	_, err := t.exec("UPDATE rounds SET state = ?, decided_at = nullif(?, '') WHERE id = ?", string(r.State), r.DecidedAt, r.ID)
	return err
}

// Equivocation is a refused second vote of a voter that differs from the first.
type Equivocation struct {
	RoundID   string           `json:"round_id"`
	Voter     string           `json:"voter_id"`
	First     consensus.Choice `json:"first"`
	Attempted consensus.Choice `json:"attempted"`
	At        string           `json:"at"`
}

// InsertEquivocation stores the first equivocation of a voter in a round, and reports whether it was the first.
// Repetitions are not stored, because they add no evidence and would fill the database.
func (t *Tx) InsertEquivocation(e Equivocation) (first bool, err error) {
	n, err := t.exec("INSERT INTO equivocations (round_id, voter, first, attempted, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
		e.RoundID, e.Voter, string(e.First), string(e.Attempted), e.At)
	return n > 0, err
}

// Equivocations returns the equivocations of a round.
func (t *Tx) Equivocations(round string) ([]Equivocation, error) {
	return collect(t, func(e *Equivocation) []any { return []any{&e.RoundID, &e.Voter, &e.First, &e.Attempted, &e.At} },
		"SELECT round_id, voter, first, attempted, at FROM equivocations WHERE round_id = ? ORDER BY voter", round)
}

// HasRound reports whether a round is stored.
func (t *Tx) HasRound(id string) (bool, error) {
	n, err := t.count("SELECT count(*) FROM rounds WHERE id = ?", id)
	return n > 0, err
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
