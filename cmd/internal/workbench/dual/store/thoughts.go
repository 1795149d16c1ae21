package store

import (
	"database/sql"
	"errors"

	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/rules"
)

// Position is the position of an entry in the ledger.
type Position struct {
	Chain string `json:"chain"`
	Seq   uint64 `json:"seq"`
}

const thoughtColumns = "id, seq, type, task_id, agent_id, session_id, content, timestamp, prev_hash, hash"

// Head returns the last record of a task, nil if it has no records.
func (t *Tx) Head(task string) (*rules.Record, error) {
	r, err := one(t, thoughtFields, "SELECT "+thoughtColumns+" FROM thoughts WHERE task_id = ? ORDER BY number DESC LIMIT 1", task)
	if errors.Is(err, ErrNotFound) {
		return nil, nil //nolint:nilnil // a task without records
	}
	return r, err
}

// InsertThought stores a record, or returns [ErrUnique] if its id is taken.
func (t *Tx) InsertThought(r *rules.Record) error {
	return t.exec("INSERT INTO thoughts ("+thoughtColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		r.ID, r.Seq, r.Type, r.TaskID, r.AgentID, r.SessionID, r.Content, r.Timestamp, r.PrevHash, r.Hash)
}

// Thought returns a record, or [ErrNotFound].
func (t *Tx) Thought(id string) (*rules.Record, error) {
	return one(t, thoughtFields, "SELECT "+thoughtColumns+" FROM thoughts WHERE id = ?", id)
}

// CountThoughts returns how many records a task has.
func (t *Tx) CountThoughts(task string) (int64, error) {
	return t.count("SELECT count(*) FROM thoughts WHERE task_id = ?", task)
}

// ThoughtFilter selects records. Empty fields select all; Limit 0 returns all.
type ThoughtFilter struct {
	TaskID, AgentID, SessionID, Type string
	After                            int64 // records with a larger number
	Limit                            int
}

// Thoughts calls with for each record, in the order of storage; number counts the records of all tasks.
func (t *Tx) Thoughts(f ThoughtFilter, with func(number int64, r *rules.Record) error) error {
	var c conditions
	c.equal("task_id", f.TaskID)
	c.equal("session_id", f.SessionID)
	c.equal("agent_id", f.AgentID)
	c.equal("type", f.Type)
	if f.After > 0 {
		c.add("number > ?", f.After)
	}
	limit := f.Limit
	if limit == 0 {
		limit = -1
	}
	return t.rows(func(rows *sql.Rows) error {
		var number int64
		var r rules.Record
		if err := rows.Scan(append([]any{&number}, thoughtFields(&r)...)...); err != nil {
			return err
		}
		return with(number, &r)
	}, "SELECT number, "+thoughtColumns+" FROM thoughts"+c.where()+"ORDER BY number LIMIT ?", append(c.args, limit)...)
}

// Chains calls with for each record of all tasks, or of one, grouped by task and in the order of storage. at is the
// position in the ledger that the database has for the record.
func (t *Tx) Chains(task string, with func(r *rules.Record, at Position) error) error {
	var c conditions
	c.equal("task_id", task)
	return t.rows(func(rows *sql.Rows) error {
		var at Position
		var r rules.Record
		if err := rows.Scan(append([]any{&at.Chain, &at.Seq}, thoughtFields(&r)...)...); err != nil {
			return err
		}
		return with(&r, at)
	}, "SELECT coalesce(chain, ''), max(coalesce(anchor, 0), 0), "+thoughtColumns+" FROM thoughts"+c.where()+"ORDER BY task_id, number", c.args...)
}

// HashAt returns the hash of the record with a number in the chain of a task, "" if there is none.
func (t *Tx) HashAt(task string, seq int64) (hash string, err error) {
	err = t.row("SELECT hash FROM thoughts WHERE task_id = ? AND seq = ? ORDER BY number LIMIT 1", task, seq).Scan(&hash)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return hash, err
}

// Unattested returns the records that the ledger does not attest yet, oldest first.
func (t *Tx) Unattested() ([]rules.Record, error) {
	return collect(t, thoughtFields, "SELECT "+thoughtColumns+" FROM thoughts WHERE chain IS NULL ORDER BY number")
}

// CountUnattested returns how many records the ledger does not attest yet.
func (t *Tx) CountUnattested() (int64, error) {
	return t.count("SELECT count(*) FROM thoughts WHERE chain IS NULL")
}

// AttestThought stores the position of a record in the ledger, unless one is stored.
func (t *Tx) AttestThought(id string, at Position) error {
	return t.exec("UPDATE thoughts SET chain = ?, anchor = ? WHERE id = ? AND chain IS NULL", at.Chain, int64(at.Seq), id) //nolint:gosec // at most 18 digits
}

// thoughtFields returns the destinations of thoughtColumns.
func thoughtFields(r *rules.Record) []any {
	return []any{&r.ID, &r.Seq, &r.Type, &r.TaskID, &r.AgentID, &r.SessionID, &r.Content, &r.Timestamp, &r.PrevHash, &r.Hash}
}

// Session is an audit session as it is stored.
type Session struct {
	rules.Session
	Position Position `json:"-"` // of the root in the ledger
	Digest   string   `json:"-"` // of the id, as the ledger names the session
}

const sessionColumns = `id, digest, coalesce(task_id, ''), agent_id, begun_at, coalesce(finalized_at, ''), coalesce(root, ''), records, coalesce(chain, ''), max(coalesce(seq, 0), 0)`

// InsertSession stores a new session, or returns [ErrUnique] if its id is taken.
func (t *Tx) InsertSession(s *Session) error {
	return t.exec("INSERT INTO sessions (id, digest, task_id, agent_id, begun_at, records) VALUES (?, ?, nullif(?, ''), ?, ?, 0)", s.ID, rules.Digest(s.ID), s.TaskID, s.AgentID, s.BegunAt)
}

// Session returns a session, or [ErrNotFound].
func (t *Tx) Session(id string) (*Session, error) {
	return one(t, (*Session).fields, "SELECT "+sessionColumns+" FROM sessions WHERE id = ?", id)
}

// SessionByDigest returns the session by the digest of its id, or [ErrNotFound].
func (t *Tx) SessionByDigest(digest string) (*Session, error) {
	return one(t, (*Session).fields, "SELECT "+sessionColumns+" FROM sessions WHERE digest = ?", digest)
}

// OpenSession returns the open session for a new record of a task if the caller names none: one for the task if there
// is one, otherwise one for all tasks. Among these it prefers a session of the agent, then the newest. It returns nil
// if no session is open.
func (t *Tx) OpenSession(task, agent string) (*Session, error) {
	found, err := t.sessions("SELECT "+sessionColumns+` FROM sessions WHERE finalized_at IS NULL AND (task_id IS NULL OR task_id = ?1)
		ORDER BY task_id IS NOT NULL DESC, agent_id = ?2 DESC, rowid DESC LIMIT 1`, task, agent)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// FinalizeSession stores the root of an open session.
func (t *Tx) FinalizeSession(id, root string, records int64, at string) error {
	return t.exec("UPDATE sessions SET finalized_at = ?, root = ?, records = ? WHERE id = ? AND finalized_at IS NULL", at, root, records, id)
}

// DeleteSession removes an open session.
func (t *Tx) DeleteSession(id string) error {
	return t.exec("DELETE FROM sessions WHERE id = ? AND finalized_at IS NULL", id)
}

// OpenSessions returns the newest open sessions.
func (t *Tx) OpenSessions(limit int) ([]Session, error) {
	return t.sessions("SELECT "+sessionColumns+" FROM sessions WHERE finalized_at IS NULL ORDER BY rowid DESC LIMIT ?", limit)
}

// AttestSession stores the position of a root in the ledger, unless one is stored.
func (t *Tx) AttestSession(id string, at Position) error {
	return t.exec("UPDATE sessions SET chain = ?, seq = ? WHERE id = ? AND chain IS NULL", at.Chain, int64(at.Seq), id) //nolint:gosec // at most 18 digits
}

// UnattestedSessions returns finalised sessions with a root that the ledger does not attest yet.
func (t *Tx) UnattestedSessions() ([]Session, error) {
	return t.sessions("SELECT " + sessionColumns + " FROM sessions WHERE finalized_at IS NOT NULL AND chain IS NULL ORDER BY rowid")
}

// Sessions returns all sessions, the newest first.
func (t *Tx) Sessions() ([]Session, error) {
	return t.sessions("SELECT " + sessionColumns + " FROM sessions ORDER BY rowid DESC")
}

func (t *Tx) sessions(query string, args ...any) ([]Session, error) {
	return collect(t, (*Session).fields, query, args...)
}

// fields returns the destinations of sessionColumns.
func (s *Session) fields() []any {
	return []any{&s.ID, &s.Digest, &s.TaskID, &s.AgentID, &s.BegunAt, &s.FinalizedAt, &s.Root, &s.Records, &s.Position.Chain, &s.Position.Seq}
}
