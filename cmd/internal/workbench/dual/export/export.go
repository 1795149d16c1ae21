// Package export has the file format for giving the thought records of a task to a third party. The file is a ledger
// proof, as candor ledger check-proof reads it, with the records added. The proof shows that the last record was
// attested; the records are chained, so it covers all of them.
package export

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/tasks"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/trail"
	"github.com/candor-mcp/candor/internal/strictjson"
	ledgerproof "github.com/candor-mcp/candor/ledger/proof"
)

// Attestation is the content of the member attests in the data of a ledger entry.
type Attestation struct {
	Store   string        `json:"store"` // the database
	Opened  *Opened       `json:"opened,omitempty"`
	Thought *trail.Anchor `json:"thought,omitempty"`
	Session *SessionRoot  `json:"session_root,omitempty"`
}

// Opened is attested when a database is first used with a ledger, and again after it was moved.
type Opened struct {
	Home string `json:"home"` // identifies the state directory
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

// ReadAttestation returns the attestation of a ledger entry, and whether it has one.
func ReadAttestation(data json.RawMessage) (Attestation, bool) {
	var d struct {
		Attests *Attestation `json:"attests"`
	}
	if json.Unmarshal(data, &d) != nil || d.Attests == nil {
		return Attestation{}, false
	}
	return *d.Attests, true
}

// File is the file that candor workbench dual export writes.
type File struct {
	ledgerproof.Proof
	Thoughts *Thoughts `json:"thoughts,omitempty"`
}

// Thoughts has the records of a task, from the first to the one that the proof is about.
type Thoughts struct {
	Task    tasks.Task     `json:"task"` // for readers only; the proof does not cover it
	Records []trail.Record `json:"records"`
}

// Read parses a file, or a proof alone. It refuses ambiguous texts: duplicate members, unknown members, or more than
// one value.
func Read(data []byte) (*File, error) {
	var f File
	if err := strictjson.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("reading the proof: %w", err)
	}
	return &f, f.CheckVersion()
}

// Check returns nil if the proven entry attests the last of the records, and each record is chained to the one before
// it, back to the first. No record was then changed, removed or added since.
func (t *Thoughts) Check(proven json.RawMessage) error {
	attested, ok := ReadAttestation(proven)
	if !ok || attested.Thought == nil {
		return errors.New("the proven entry attests no thought record")
	}
	if len(t.Records) == 0 {
		return errors.New("no thought records")
	}
	head := attested.Thought
	if t.Task.ID != head.TaskID {
		return errors.New("the records belong to another task")
	}
	var v trail.Verifier
	for i := range t.Records {
		r := &t.Records[i]
		if r.TaskID != head.TaskID {
			return fmt.Errorf("record %d belongs to another task", i+1)
		}
		v.Add(r)
	}
	if broken := v.Broken(); len(broken) > 0 {
		return fmt.Errorf("record %d: %s", broken[0].Seq, broken[0].Fault)
	}
	if last := t.Records[len(t.Records)-1]; last.Hash != head.Hash || last.Seq != head.Seq || last.ID != head.ID {
		return errors.New("the last record is not the one that the ledger attests")
	}
	return nil
}
