package workrail

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/candor-mcp/candor/internal/durable"
	"github.com/candor-mcp/candor/workbench/workrail/workflow"
)

// snapshots keeps workflows as they were when a session was started, by their hash. Sessions of one workflow share one.
type snapshots struct {
	root *os.Root

	mu     sync.Mutex // guards the one below
	parsed map[string]parsedSnapshot
}

// parsedSnapshot is a workflow that was read, and the digest of its file.
type parsedSnapshot struct {
	workflow *workflow.Workflow
	sum      [sha256.Size]byte
}

// maxParsed bounds the workflows that are kept in memory.
const maxParsed = 64

func snapshotName(hash string) string { return hash + ".json" }

// keep makes a workflow durable. A stored copy that is damaged is replaced, so that a session can be started after that.
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

// Errors of a snapshot, besides those of the disk.
var (
	errSnapshotMissing = errors.New("the workflow that the session was started with is missing")
	errSnapshotDamaged = errors.New("the workflow that the session was started with is damaged")
	errSnapshotOther   = errors.New("the stored workflow is not the one that the session was started with")
)

// load returns the workflow with a hash. The file is read each time, so that damage is noticed, and parsed once.
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
