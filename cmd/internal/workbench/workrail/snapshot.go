package workrail

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
	"github.com/candor-mcp/candor/internal/durable"
	"github.com/candor-mcp/candor/internal/filelock"
)

// snapshots stores workflows as of the start of a session, by hash. Sessions of the same workflow share a snapshot.
type snapshots struct {
	root *os.Root
	turn sync.Mutex // held with the lock of the directory, so that only one goroutine polls for it

	mu     sync.Mutex // guards the field below
	parsed map[string]parsedSnapshot
}

// parsedSnapshot is a parsed workflow and the digest of its file.
type parsedSnapshot struct {
	workflow *workflow.Workflow
	sum      [sha256.Size]byte
}

// maxParsed is the maximum number of workflows in memory.
const maxParsed = 64

func snapshotName(hash string) string { return hash + ".json" }

// keep stores a workflow durably. It replaces a damaged copy, so that sessions can be started again.
func (s *snapshots) keep(w *workflow.Workflow) error {
	if _, err := s.load(w.Hash()); err == nil {
		return nil
	}
	text, err := w.JSON()
	if err != nil {
		return err
	}
	return durable.WriteFile(s.root, snapshotName(w.Hash()), text, 0o600)
}

// lockWait is the maximum wait for another process that starts a session or removes workflows, which takes
// milliseconds.
const lockWait = 5 * time.Second

// hold prevents other goroutines and processes from starting sessions and removing workflows until release is called.
func (s *snapshots) hold(ctx context.Context) (release func() error, err error) {
	s.turn.Lock()
	file, err := filelock.Wait(ctx, s.root, "lock", lockWait)
	if err != nil {
		s.turn.Unlock()
		return nil, fmt.Errorf("locking the stored workflows: %w", err)
	}
	return func() error { defer s.turn.Unlock(); return file.Close() }, nil
}

// keepWhile stores a workflow durably and calls create, which creates a session that uses it. No other process removes
// the workflow before the session exists.
func (s *snapshots) keepWhile(ctx context.Context, w *workflow.Workflow, create func() error) error {
	release, err := s.hold(ctx)
	if err == nil {
		if err = s.keep(w); err == nil {
			return errors.Join(create(), release())
		}
		err = errors.Join(err, release())
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &continueError{snapshotStoreError, err}
}

// Errors of a snapshot, besides I/O errors.
var (
	errSnapshotMissing = errors.New("the workflow that the session was started with is missing")
	errSnapshotDamaged = errors.New("the workflow that the session was started with is damaged")
	errSnapshotOther   = errors.New("the stored workflow is not the one that the session was started with")
)

// load returns the workflow with a hash. It reads the file each time, to detect damage, and parses it once.
func (s *snapshots) load(hash string) (*workflow.Workflow, error) {
	info, err := s.root.Lstat(snapshotName(hash))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errSnapshotMissing
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errSnapshotDamaged
	}
	data, err := readBounded(s.root, snapshotName(hash))
	if err != nil {
		return nil, err
	}
	return s.parse(hash, data)
}

func (s *snapshots) parse(hash string, data []byte) (*workflow.Workflow, error) {
	sum := sha256.Sum256(data)
	s.mu.Lock()
	known, ok := s.parsed[hash]
	s.mu.Unlock()
	if ok && known.sum == sum {
		return known.workflow, nil
	}
	w, err := workflow.Parse(snapshotName(hash), data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSnapshotDamaged, err)
	}
	if w.Hash() != hash {
		return nil, errSnapshotOther
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.parsed == nil || len(s.parsed) >= maxParsed {
		s.parsed = map[string]parsedSnapshot{}
	}
	s.parsed[hash] = parsedSnapshot{w, sum}
	return w, nil
}
