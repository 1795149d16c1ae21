package rules

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/candor-mcp/candor/internal/jsontext"
	ledgerproof "github.com/candor-mcp/candor/ledger/proof"
)

// Attestation is the content of the member attests in the data of a ledger entry.
type Attestation struct {
	Store   string       `json:"store"`          // the database
	Home    string       `json:"home,omitempty"` // identifies the state directory, when a database is first used with a ledger or was moved
	Thought *Anchor      `json:"thought,omitempty"`
	Session *SessionRoot `json:"session_root,omitempty"`
}

// Anchor is the attestation of a record.
type Anchor struct {
	ID string `json:"id"`
	Place
	Hash string `json:"hash"`
}

// SessionRoot is the attestation of an audit session.
type SessionRoot struct {
	ID          string `json:"id"`     // for readers only: the ledger redacts text that looks like a secret
	Digest      string `json:"digest"` // of the id; identifies the session
	Sum         string `json:"sum"`    // over all fields of the session
	TaskID      string `json:"task_id,omitempty"`
	Root        string `json:"root"`
	Records     int64  `json:"records"`
	FinalizedAt string `json:"finalized_at"`
}

// Key is the member of an entry's data that has the [Attestation].
const Key = "attests"

// ReadAttestation returns the attestation of a ledger entry, or nil.
func ReadAttestation(data json.RawMessage) *Attestation {
	var d struct {
		Attests *Attestation `json:"attests"`
	}
	if json.Unmarshal(data, &d) != nil {
		return nil
	}
	return d.Attests
}

// Export is the file that candor workbench dual export writes for a third party: a ledger proof, as candor ledger
// check-proof reads it, with the records of a task or of a session added. The proof is that of the last record of the task, to which the others
// are chained, or that of the root of the session, which covers its records.
type Export struct {
	ledgerproof.Proof
	Thoughts *Thoughts       `json:"thoughts,omitempty"`
	Session  *SessionRecords `json:"session,omitempty"`
}

// Check returns nil if the proven entry attests the records in the file, if it has any.
func (f *Export) Check(proven json.RawMessage) error {
	if f.Thoughts != nil {
		if err := f.Thoughts.Check(proven); err != nil {
			return err
		}
	}
	if f.Session != nil {
		return f.Session.Check(proven)
	}
	return nil
}

// Session is an audit session: a group of thought records, recorded between its start and its end, with one root over all of them.
type Session struct {
	ID          string `json:"session_id"`
	TaskID      string `json:"task_id,omitempty"` // "" for all tasks
	AgentID     string `json:"agent_id,omitempty"`
	BegunAt     string `json:"begun_at"`
	FinalizedAt string `json:"finalized_at,omitempty"` // "" while it is open
	Root        string `json:"root,omitempty"`
	Records     int64  `json:"record_count,omitempty"` // of a finalised session
}

// Sum returns a hash over all fields of a session.
func (s *Session) Sum() string {
	return Sum(map[string]any{
		"session_id": s.ID, "task_id": s.TaskID, "agent_id": s.AgentID, "begun_at": s.BegunAt, "finalized_at": s.FinalizedAt, "root": s.Root,
		"record_count": Number(s.Records),
	})
}

// Finalized reports whether the session has a root.
func (s *Session) Finalized() bool { return s.FinalizedAt != "" }

// SessionRecords has a finalised session and its records in the order of the leaves of its tree.
type SessionRecords struct {
	Session Session  `json:"session"`
	Records []Record `json:"records"`
}

// Check returns nil if the proven entry attests the session with all of its fields, and its root is that of the records.
func (s *SessionRecords) Check(proven json.RawMessage) error {
	attested := ReadAttestation(proven)
	if attested == nil || attested.Session == nil {
		return errors.New("the proven entry attests no session")
	}
	if head := attested.Session; head.Digest != Digest(s.Session.ID) || head.Sum != s.Session.Sum() {
		return errors.New("the session is not the one that the ledger attests")
	}
	var tree Tree
	for i := range s.Records {
		r := &s.Records[i]
		if r.SessionID != s.Session.ID || r.Sum() != r.Hash {
			return fmt.Errorf("record %d: %s", i+1, FaultHash)
		}
		if err := tree.Add(r.Hash); err != nil {
			return err
		}
	}
	if root, err := tree.Root(); err != nil || root != s.Session.Root || tree.Size() != s.Session.Records {
		return errors.New("the records are not those of the root")
	}
	return nil
}

// Thoughts has the records of a task, from the first to the one that the proof is about.
type Thoughts struct {
	Task    Task     `json:"task"` // for readers only; the proof does not cover it
	Records []Record `json:"records"`
}

// ReadExport parses a file, or a proof alone. It refuses ambiguous texts: duplicate members, unknown members, or more
// than one value.
func ReadExport(data []byte) (*Export, error) {
	var f Export
	if err := jsontext.UnmarshalStrict(data, &f); err != nil {
		return nil, fmt.Errorf("reading the proof: %w", err)
	}
	return &f, f.CheckVersion()
}

// Check returns nil if the proven entry attests the last of the records, and each record is chained to the one before
// it, back to the first. No record was then changed, removed or added since.
func (t *Thoughts) Check(proven json.RawMessage) error {
	attested := ReadAttestation(proven)
	if attested == nil || attested.Thought == nil {
		return errors.New("the proven entry attests no thought record")
	}
	if len(t.Records) == 0 {
		return errors.New("no thought records")
	}
	head := attested.Thought
	if t.Task.ID != head.TaskID {
		return errors.New("the records belong to another task")
	}
	var v Verifier
	for i := range t.Records {
		if t.Records[i].TaskID != head.TaskID {
			return fmt.Errorf("record %d belongs to another task", i+1)
		}
		v.Add(&t.Records[i])
	}
	if v.Faults > 0 {
		return fmt.Errorf("record %d: %s", v.Broken[0].Seq, v.Broken[0].Fault)
	}
	if last := t.Records[len(t.Records)-1]; last.Hash != head.Hash || last.Seq != head.Seq || last.ID != head.ID {
		return errors.New("the last record is not the one that the ledger attests")
	}
	return nil
}
