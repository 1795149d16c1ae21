package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"os"
)

// Change is what shall become of one file.
type Change struct {
	Path     Path
	Before   *File  // as it was read, nil: it must not exist
	After    []byte // the new content
	Delete   bool   // remove the file; After is not looked at
	MakeDirs bool   // make missing folders on the way
}

// Staged is a set of changes that is checked, backed up and written down, and not done yet.
type Staged struct{}

// Stage checks changes and writes the journal.
func (f *Folder) Stage(state *os.Root, id string, changes []Change, note json.RawMessage) (*Staged, error) {
	return nil, errors.ErrUnsupported
}

// Commit does all changes or none.
func (s *Staged) Commit(ctx context.Context) error { return errors.ErrUnsupported }

// Undo puts everything back.
func (s *Staged) Undo() error { return errors.ErrUnsupported }

// Done removes journal and backups.
func (s *Staged) Done() error { return errors.ErrUnsupported }
