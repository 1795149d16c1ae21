package workspace

import (
	"encoding/json"
	"errors"
	"os"
)

// Journal is what a change left behind.
type Journal struct {
	Version int             `json:"version"`
	ID      string          `json:"id"`
	Root    string          `json:"root"` // canonical path of the workspace
	Note    json.RawMessage `json:"note,omitempty"`
	Files   []JournalFile   `json:"files"`
}

// JournalFile is one file of a change.
type JournalFile struct {
	Path   string `json:"path"`
	Before string `json:"before"` // hash, empty: it did not exist
	After  string `json:"after"`  // hash, empty: it is deleted
}

// Verdict says what shall become of a change that was done completely when the process died.
type Verdict int

// The verdicts.
const (
	Undo Verdict = iota // put everything back
	Keep                // the change stands
)

// State is how a change was found, and left.
type State string

// The states.
const (
	NotDone State = "not done" // nothing was changed
	Kept    State = "kept"     // all was changed, and stands
	Undone  State = "undone"   // what was changed is back as it was
	Unknown State = "unknown"  // something is neither as before nor as after; it was left alone
	Damaged State = "damaged"  // the journal cannot be read; it was set aside
)

// Recovered is what became of one journal.
type Recovered struct {
	ID      string
	Journal Journal
	State   State
	Unknown []string // paths left alone
	Err     error
}

// Recover puts right what a killed process left.
func Recover(state *os.Root, open func(root string) (*Folder, error), decide func(Journal) Verdict) ([]Recovered, error) {
	return nil, errors.ErrUnsupported
}
