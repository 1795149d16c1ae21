package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/candor-mcp/candor/internal/filelock"
)

// Owner is the process that holds the lock of a session.
type Owner struct {
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
}

// LockedError is the error for a session that another process is changing.
type LockedError struct {
	Owner Owner // zero if unknown
}

// Error names the process.
func (e *LockedError) Error() string {
	if e.Owner.PID == 0 {
		return "another process is changing the session"
	}
	return fmt.Sprintf("process %d is changing the session", e.Owner.PID)
}

// held is the lock of a session.
type held struct{ file *os.File }

func (h *held) release() error { return h.file.Close() }

// hold locks a session against other processes. The system releases the lock when its process ends, and not before.
func (s *Store[S]) hold(ctx context.Context, id string) (*held, error) {
	name := id + "/" + lockName
	file, err := filelock.Wait(ctx, s.root, name, s.options.LockWait)
	switch {
	case err == nil:
		h := &held{file}
		return h, h.sign()
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrNotFound
	case errors.Is(err, filelock.ErrLocked):
		return nil, &LockedError{s.owner(name)}
	}
	return nil, err
}

// sign writes the owner into the lock file, for processes that wait.
func (h *held) sign() error {
	text, err := json.Marshal(Owner{PID: os.Getpid(), Since: time.Now().UTC()})
	if err == nil {
		err = h.file.Truncate(0)
	}
	if err == nil {
		_, err = h.file.WriteAt(text, 0)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("writing the lock: %w", err), h.release())
	}
	return nil
}

func (s *Store[S]) owner(name string) Owner {
	var o Owner
	file, err := s.root.Open(name)
	if err != nil {
		return o
	}
	defer file.Close() //nolint:errcheck // it was only read
	if text, err := io.ReadAll(io.LimitReader(file, 1<<10)); err != nil || json.Unmarshal(text, &o) != nil {
		return Owner{}
	}
	return o
}
