package plan

import (
	"os"
	"time"
)

// Approval is the record that a person approved a plan for a workspace.
type Approval struct {
	Version int       `json:"version"`
	Plan    string    `json:"plan"`        // its hash
	Root    string    `json:"root"`        // the digest of the workspace
	By      string    `json:"approved_by"` //
	At      time.Time `json:"at"`
	Note    string    `json:"note,omitempty"`

	// Problem says what is wrong with a damaged record in a list. Such a record approves nothing.
	Problem string `json:"-"`
}

// Approvals are the records in the state folder.
type Approvals struct{ state *os.Root }

// Open returns the approvals below a state folder. The caller keeps owning state.
func Open(state *os.Root) (*Approvals, error) { return &Approvals{state: state}, nil }

// RootDigest names a workspace in the state folder without telling where it is. Pass the absolute path with its links resolved.
func RootDigest(path string) string { return "" }

// Approve writes a record, durably. One that was there is replaced.
func (a *Approvals) Approve(record Approval) error { return nil }

// Revoke removes a record, durably, and reports whether there was one.
func (a *Approvals) Revoke(root, plan string) (existed bool, err error) { return false, nil }

// Lookup returns the record of a plan: PLAN_NOT_APPROVED if there is none, or if it is damaged.
func (a *Approvals) Lookup(root, plan string) (Approval, error) { return Approval{}, nil }

// List returns the records of a workspace, the oldest first, damaged ones with their problem.
func (a *Approvals) List(root string) ([]Approval, error) { return nil, nil }
