package store

import (
	"database/sql"
)

// Session is an audit session: the thought records between its start and its end belong together, and one root stands for all of them.
type Session struct {
	ID          string `json:"session_id"`
	TaskID      string `json:"task_id,omitempty"` // "" for all tasks
	AgentID     string `json:"agent_id,omitempty"`
	BegunAt     string `json:"begun_at"`
	FinalizedAt string `json:"finalized_at,omitempty"` // "" while it is open
	Root        string `json:"root,omitempty"`
	Records     int64  `json:"record_count,omitempty"` // of a finalised session
	Place       Place  `json:"-"`                      // where the ledger attests the root
}

// Finalized reports whether the session has a root.
func (s *Session) Finalized() bool { return s.FinalizedAt != "" }

const sessionColumns = `id, coalesce(task_id, ''), agent_id, begun_at, coalesce(finalized_at, ''), coalesce(root, ''), records, coalesce(chain, ''), coalesce(seq, 0)`

// InsertSession stores a session that begins, or returns [ErrUnique] if its id is taken.
func (t *Tx) InsertSession(s *Session) error {
	_, err := t.exec("INSERT INTO sessions (id, task_id, agent_id, begun_at, records) VALUES (?, nullif(?, ''), ?, ?, 0)", s.ID, s.TaskID, s.AgentID, s.BegunAt)
	return err
}

// Session returns a session, or [ErrNotFound].
func (t *Tx) Session(id string) (*Session, error) {
	return scanSession(t.row("SELECT "+sessionColumns+" FROM sessions WHERE id = ?", id))
}

// OpenSession returns the open session that a new record of a task belongs to if the caller names none: that of the task if there is one,
// otherwise one for all tasks; the one that began last, of the agent if it has one. It is nil if no session is open.
func (t *Tx) OpenSession(task, agent string) (*Session, error) {
	var found *Session
	err := t.rows(func(r *sql.Rows) (err error) {
		found, err = scanSession(r)
		return err
	}, "SELECT "+sessionColumns+` FROM sessions WHERE finalized_at IS NULL AND (task_id IS NULL OR task_id = ?1)
		ORDER BY task_id IS NOT NULL DESC, agent_id = ?2 DESC, rowid DESC LIMIT 1`, task, agent)
	return found, err
}

// FinalizeSession stores the root of an open session.
func (t *Tx) FinalizeSession(id, root string, records int64, at string) error {
	_, err := t.exec("UPDATE sessions SET finalized_at = ?, root = ?, records = ? WHERE id = ? AND finalized_at IS NULL", at, root, records, id)
	return err
}

// AttestSession notes where the ledger attests a root.
func (t *Tx) AttestSession(id string, at Place) error {
	_, err := t.exec("UPDATE sessions SET chain = ?, seq = ? WHERE id = ?", at.Chain, int64(at.Seq), id) //nolint:gosec // at most 18 digits
	return err
}

// UnattestedSessions returns finalised sessions whose root the ledger does not attest yet.
func (t *Tx) UnattestedSessions() ([]Session, error) {
	return t.sessions("SELECT " + sessionColumns + " FROM sessions WHERE finalized_at IS NOT NULL AND chain IS NULL ORDER BY rowid")
}

// Sessions returns the sessions that began before a number, the newest first; 0 is from the newest. Number is that of the last one.
func (t *Tx) Sessions(before int64, limit int) (all []Session, number int64, err error) {
	var c conditions
	if before > 0 {
		c.add("rowid < ?", before)
	}
	if all, err = t.sessions("SELECT "+sessionColumns+" FROM sessions"+c.where()+"ORDER BY rowid DESC LIMIT ?", append(c.args, limit)...); err != nil || len(all) == 0 {
		return all, 0, err
	}
	err = t.row("SELECT rowid FROM sessions WHERE id = ?", all[len(all)-1].ID).Scan(&number)
	return all, number, err
}

func (t *Tx) sessions(query string, args ...any) (all []Session, err error) {
	all = []Session{}
	err = t.rows(func(r *sql.Rows) error {
		s, err := scanSession(r)
		if err != nil {
			return err
		}
		all = append(all, *s)
		return nil
	}, query, args...)
	return all, err
}

func scanSession(row interface{ Scan(dest ...any) error }) (*Session, error) {
	var s Session
	err := row.Scan(&s.ID, &s.TaskID, &s.AgentID, &s.BegunAt, &s.FinalizedAt, &s.Root, &s.Records, &s.Place.Chain, &s.Place.Seq)
	return &s, notFound(err)
}
