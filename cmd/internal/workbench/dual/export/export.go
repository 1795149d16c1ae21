// Package export holds the file in which the thought records of a task are given to a third party. The file is a proof of the ledger, as
// candor ledger check-proof reads it, with the records beside it. The proof shows that the last record was attested; the records are chained,
// so that it holds for all of them.
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

// Attestation is what a ledger entry attests, in the member attests of its data.
type Attestation struct {
	Store   string        `json:"store"` // the database
	Opened  *Opened       `json:"opened,omitempty"`
	Thought *trail.Anchor `json:"thought,omitempty"`
	Session *SessionRoot  `json:"session_root,omitempty"`
}

// Opened is attested when a database is used with a ledger for the first time, and again when it was moved.
type Opened struct {
	Home string `json:"home"` // identifies the state folder
}

// SessionRoot is what the ledger attests of an audit session.
type SessionRoot struct {
	ID          string `json:"id"`     // for the reader: the ledger redacts text that looks like a secret
	Digest      string `json:"digest"` // of the id, by which the session is found
	Sum         string `json:"sum"`    // over all fields of the session
	TaskID      string `json:"task_id,omitempty"`
	Root        string `json:"root"`
	Records     int64  `json:"records"`
	FinalizedAt string `json:"finalized_at"`
}

// Key is the member of an entry's data that holds an [Attestation].
const Key = "attests"

// ReadAttestation reads the attestation of a ledger entry; false if it has none.
func ReadAttestation(data json.RawMessage) (Attestation, bool) {
	var d struct {
		Attests *Attestation `json:"attests"`
	}
	if json.Unmarshal(data, &d) != nil || d.Attests == nil {
		return Attestation{}, false
	}
	return *d.Attests, true
}

// File is what candor workbench dual export writes.
type File struct {
	ledgerproof.Proof
	Thoughts *Thoughts `json:"thoughts,omitempty"`
}

// Thoughts are the records of a task, from the first to the one that the proof is about.
type Thoughts struct {
	Task    tasks.Task     `json:"task"` // for the reader; the proof does not cover it
	Records []trail.Record `json:"records"`
}

// Read reads a file, or a proof alone. A text that readers can understand differently is refused: one with a member twice, with a member that
// a file does not have, or with more than one value.
func Read(data []byte) (*File, error) {
	var f File
	if err := strictjson.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("reading the proof: %w", err)
	}
	return &f, f.CheckVersion()
}

// Check returns nil if an entry that was proven attests the last of the records, and each record is chained to the one before it, back to
// the first. Then no record was changed, removed or added since.
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
