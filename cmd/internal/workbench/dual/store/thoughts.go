package store

import (
	"database/sql"
	"errors"

	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/trail"
)

// Position is the position of an entry in the ledger.
type Position struct {
	Chain string `json:"chain"`
	Seq   uint64 `json:"seq"`
}

const thoughtColumns = "id, seq, type, task_id, agent_id, session_id, content, timestamp, prev_hash, hash"

// Head returns the last record of a task, nil if it has no records.
func (t *Tx) Head(task string) (*trail.Record, error) {
	r, err := scanThought(t.row("SELECT "+thoughtColumns+" FROM thoughts WHERE task_id = ? ORDER BY number DESC LIMIT 1", task))
	if errors.Is(err, ErrNotFound) {
		return nil, nil //nolint:nilnil // a task without records
	}
	return r, err
}

// InsertThought stores a record, or returns [ErrUnique] if its id is taken.
func (t *Tx) InsertThought(r *trail.Record) error {
	_, err := t.exec("INSERT INTO thoughts ("+thoughtColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		r.ID, r.Seq, string(r.Type), r.TaskID, r.AgentID, r.SessionID, r.Content, r.Timestamp, r.PrevHash, r.Hash)
	return err
}

// Thought returns a record, or [ErrNotFound].
func (t *Tx) Thought(id string) (*trail.Record, error) {
	return scanThought(t.row("SELECT "+thoughtColumns+" FROM thoughts WHERE id = ?", id))
}

// CountThoughts returns how many records a task has.
func (t *Tx) CountThoughts(task string) (int64, error) {
	return t.count("SELECT count(*) FROM thoughts WHERE task_id = ?", task)
}

// CountBound returns how many records are bound to a session.
func (t *Tx) CountBound(session string) (int64, error) {
	return t.count("SELECT count(*) FROM thoughts WHERE session_id = ?", session)
}

// ThoughtFilter selects records. Empty fields select all; Limit 0 returns all.
type ThoughtFilter struct {
	TaskID, AgentID, SessionID string
	Type                       trail.Type
	After                      int64 // records with a larger number
	Limit                      int
}

// Thoughts calls with for each record, in the order of storage; number counts the records of all tasks.
func (t *Tx) Thoughts(f ThoughtFilter, with func(number int64, r *trail.Record) error) error {
	var c conditions
	c.equal("task_id", f.TaskID)
	c.equal("session_id", f.SessionID)
	c.equal("agent_id", f.AgentID)
	c.equal("type", string(f.Type))
	if f.After > 0 {
		c.add("number > ?", f.After)
	}
	limit := f.Limit
	if limit == 0 {
		limit = -1
	}
	return t.rows(func(rows *sql.Rows) error {
		var number int64
		var r trail.Record
		if err := rows.Scan(append([]any{&number}, thoughtFields(&r)...)...); err != nil {
			return err
		}
		return with(number, &r)
	}, "SELECT number, "+thoughtColumns+" FROM thoughts"+c.where()+"ORDER BY number LIMIT ?", append(c.args, limit)...)
}

// Chains calls with for each record of all tasks, or of one, grouped by task and in the order of storage. attested
// reports whether the database has a ledger position for the record.
func (t *Tx) Chains(task string, with func(number int64, r *trail.Record, attested bool) error) error {
	var c conditions
	c.equal("task_id", task)
	return t.rows(func(rows *sql.Rows) error {
		var number int64
		var attested bool
		var r trail.Record
		if err := rows.Scan(append([]any{&number, &attested}, thoughtFields(&r)...)...); err != nil {
			return err
		}
		return with(number, &r, attested)
	}, "SELECT number, chain IS NOT NULL OR anchor IS NOT NULL, "+thoughtColumns+" FROM thoughts"+c.where()+"ORDER BY task_id, number", c.args...)
}

// Found has the fields of a record that a verification needs. The zero value means that there is no such record.
type Found struct {
	Number   int64
	ID       string
	TaskID   string
	Seq      int64
	Hash     string
	Position Position // position in the ledger
}

// At returns the record with a number in the chain of a task.
func (t *Tx) At(task string, seq int64) (f Found, err error) {
	return t.found("task_id = ? AND seq = ? ORDER BY number LIMIT 1", task, seq)
}

// Numbered returns the record with a number among all tasks.
func (t *Tx) Numbered(number int64) (f Found, err error) { return t.found("number = ?", number) }

func (t *Tx) found(where string, args ...any) (f Found, err error) {
	err = t.row("SELECT number, id, task_id, seq, hash, coalesce(chain, ''), max(coalesce(anchor, 0), 0) FROM thoughts WHERE "+where, args...).
		Scan(&f.Number, &f.ID, &f.TaskID, &f.Seq, &f.Hash, &f.Position.Chain, &f.Position.Seq)
	if errors.Is(err, sql.ErrNoRows) {
		return Found{}, nil
	}
	return f, err
}

// IndexIn returns the number of records of a session that were stored before the given one, or [ErrNotFound] if the
// session does not have it.
func (t *Tx) IndexIn(session, id string) (index int64, err error) {
	var number int64
	if err := t.row("SELECT number FROM thoughts WHERE id = ? AND session_id = ?", id, session).Scan(&number); err != nil {
		return 0, notFound(err)
	}
	err = t.row("SELECT count(*) FROM thoughts WHERE session_id = ? AND number < ?", session, number).Scan(&index)
	return index, err
}

// Unattested returns records that the ledger does not attest yet, oldest first.
func (t *Tx) Unattested(limit int) ([]trail.Record, error) {
	return collect(t, thoughtFields, "SELECT "+thoughtColumns+" FROM thoughts WHERE chain IS NULL ORDER BY number LIMIT ?", limit)
}

// CountUnattested returns how many records the ledger does not attest yet.
func (t *Tx) CountUnattested() (int64, error) {
	return t.count("SELECT count(*) FROM thoughts WHERE chain IS NULL")
}

// CountPending returns how many records and finalised sessions the ledger does not attest yet.
func (t *Tx) CountPending() (int64, error) {
	return t.count("SELECT (SELECT count(*) FROM thoughts WHERE chain IS NULL) + (SELECT count(*) FROM sessions WHERE chain IS NULL AND finalized_at IS NOT NULL)")
}

// AttestThought stores the position of a record in the ledger, unless one is stored.
func (t *Tx) AttestThought(id string, at Position) error {
	_, err := t.exec("UPDATE thoughts SET chain = ?, anchor = ? WHERE id = ? AND chain IS NULL", at.Chain, int64(at.Seq), id) //nolint:gosec // at most 18 digits
	return err
}

// ThoughtPosition returns the position of a record in the ledger; ok is false if it is not attested yet.
func (t *Tx) ThoughtPosition(id string) (at Position, ok bool, err error) {
	err = t.row("SELECT coalesce(chain, ''), coalesce(anchor, 0) FROM thoughts WHERE id = ?", id).Scan(&at.Chain, &at.Seq)
	return at, at.Chain != "", notFound(err)
}

// thoughtFields returns the destinations of thoughtColumns.
func thoughtFields(r *trail.Record) []any {
	return []any{&r.ID, &r.Seq, &r.Type, &r.TaskID, &r.AgentID, &r.SessionID, &r.Content, &r.Timestamp, &r.PrevHash, &r.Hash}
}

func scanThought(row *sql.Row) (*trail.Record, error) {
	var r trail.Record
	return &r, notFound(row.Scan(thoughtFields(&r)...))
}
