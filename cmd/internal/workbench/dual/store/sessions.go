package store

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"strconv"

	"github.com/candor-mcp/candor/cmd/internal/jsonvalue"
)

// Session is an audit session: a group of thought records, recorded between its start and its end, with one root over
// all of them.
type Session struct {
	ID          string   `json:"session_id"`
	TaskID      string   `json:"task_id,omitempty"` // "" for all tasks
	AgentID     string   `json:"agent_id,omitempty"`
	BegunAt     string   `json:"begun_at"`
	FinalizedAt string   `json:"finalized_at,omitempty"` // "" while it is open
	Root        string   `json:"root,omitempty"`
	Records     int64    `json:"record_count,omitempty"` // of a finalised session
	Position    Position `json:"-"`                      // position of the root in the ledger
	Number      int64    `json:"-"`                      // number in the order of starts
}

// Sum returns a hash over all fields of a session except its position in the ledger: SHA-256, in hex, of its canonical
// JSON.
func (s *Session) Sum() string {
	text, err := jsonvalue.Append(nil, map[string]any{
		"session_id": s.ID, "task_id": s.TaskID, "agent_id": s.AgentID, "begun_at": s.BegunAt, "finalized_at": s.FinalizedAt, "root": s.Root,
		"record_count": json.Number(strconv.FormatInt(s.Records, 10)),
	})
	if err != nil {
		return "" // texts and a number can be encoded
	}
	return Digest(string(text))
}

// Digest returns the SHA-256 of a text in hex. The ledger identifies a session by the digest of its id.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Finalized reports whether the session has a root.
func (s *Session) Finalized() bool { return s.FinalizedAt != "" }

const sessionColumns = `rowid, id, coalesce(task_id, ''), agent_id, begun_at, coalesce(finalized_at, ''), coalesce(root, ''), records, coalesce(chain, ''), max(coalesce(seq, 0), 0)`

// InsertSession stores a new session, or returns [ErrUnique] if its id is taken.
func (t *Tx) InsertSession(s *Session) error {
	_, err := t.exec("INSERT INTO sessions (id, digest, task_id, agent_id, begun_at, records) VALUES (?, ?, nullif(?, ''), ?, ?, 0)", s.ID, Digest(s.ID), s.TaskID, s.AgentID, s.BegunAt)
	return err
}

// Session returns a session, or [ErrNotFound].
func (t *Tx) Session(id string) (*Session, error) {
	return scanSession(t.row("SELECT "+sessionColumns+" FROM sessions WHERE id = ?", id))
}

// SessionByDigest returns the session whose id has a digest, or [ErrNotFound].
func (t *Tx) SessionByDigest(digest string) (*Session, error) {
	return scanSession(t.row("SELECT "+sessionColumns+" FROM sessions WHERE digest = ?", digest))
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
	_, err := t.exec("UPDATE sessions SET finalized_at = ?, root = ?, records = ? WHERE id = ? AND finalized_at IS NULL", at, root, records, id)
	return err
}

// AttestSession stores the position of a root in the ledger, unless one is stored.
func (t *Tx) AttestSession(id string, at Position) error {
	_, err := t.exec("UPDATE sessions SET chain = ?, seq = ? WHERE id = ? AND chain IS NULL", at.Chain, int64(at.Seq), id) //nolint:gosec // at most 18 digits
	return err
}

// UnattestedSessions returns finalised sessions whose root the ledger does not attest yet.
func (t *Tx) UnattestedSessions() ([]Session, error) {
	return t.sessions("SELECT " + sessionColumns + " FROM sessions WHERE finalized_at IS NOT NULL AND chain IS NULL ORDER BY rowid")
}

// Sessions returns the sessions that began before a number, newest first; 0 starts with the newest. number is that of
// the last session returned.
func (t *Tx) Sessions(before int64, limit int) (all []Session, number int64, err error) {
	var c conditions
	if before > 0 {
		c.add("rowid < ?", before)
	}
	if all, err = t.sessions("SELECT "+sessionColumns+" FROM sessions"+c.where()+"ORDER BY rowid DESC LIMIT ?", append(c.args, limit)...); err != nil || len(all) == 0 {
		return all, 0, err
	}
	return all, all[len(all)-1].Number, nil
}

func (t *Tx) sessions(query string, args ...any) ([]Session, error) {
	return collect(t, (*Session).fields, query, args...)
}

// fields returns the destinations of sessionColumns.
func (s *Session) fields() []any {
	return []any{&s.Number, &s.ID, &s.TaskID, &s.AgentID, &s.BegunAt, &s.FinalizedAt, &s.Root, &s.Records, &s.Position.Chain, &s.Position.Seq}
}

func scanSession(row *sql.Row) (*Session, error) {
	var s Session
	return &s, notFound(row.Scan(s.fields()...))
}
