package crashfs

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"sync"
)

// ErrLocked says that a lock is held.
var ErrLocked = errors.New("crashfs: locked")

// FS is the file system. Names have slashes and are relative to its root, which is ".". Its methods may be called from several goroutines.
type FS struct {
	mu      sync.Mutex
	root    *node
	pending []change // names that changed since their folder was synced
	plan    plan
	ops     int
	limit   int64 // 0 is none
	open    int   // files and locks that nobody closed yet
	broken  []string
	after   func(index int, op Op, cut func(*rand.Rand) *FS)
}

// New returns an empty file system.
func New() *FS { return &FS{root: newFolder(0o700)} }

// Plant makes the operation with this index, from 0, fail, or the first behind it that can fail in this way.
func (f *FS) Plant(fault Fault, index int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.plan = plan{fault: fault, at: index}
}

// Heal takes the planted fault away and reports whether it struck.
func (f *FS) Heal() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	hit := f.plan.hit
	f.plan = plan{}
	return hit
}

// After has a function called after every operation, while everything else waits. It may cut the power with cut as often as it likes:
// each cut gives another survivor, and this file system goes on.
func (f *FS) After(do func(index int, op Op, cut func(*rand.Rand) *FS)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.after = do
}

// SetLimit bounds the space of all files together. 0 is no bound.
func (f *FS) SetLimit(bytes int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.limit = bytes
}

// Ops returns how many operations there were.
func (f *FS) Ops() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ops
}

// Open returns how many files and locks nobody has closed.
func (f *FS) Open() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open
}

// Broken returns the rules that were broken: a file was written or synced after a Sync of it had failed, a closed file was used.
func (f *FS) Broken() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.broken)
}

// begin counts an operation and returns the planted error, if it is its turn. The caller holds the lock, and calls done.
func (f *FS) begin(op Op, name string) (Fault, error) {
	index := f.ops
	f.ops++
	if !f.plan.strikes(index, op) {
		return "", nil
	}
	return f.plan.fault, &fs.PathError{Op: string(op), Path: name, Err: f.plan.fault.err()}
}

func (f *FS) done(op Op) {
	if f.after != nil {
		f.after(f.ops-1, op, f.crash)
	}
}

// rule notes that a rule was broken.
func (f *FS) rule(format string, args ...any) {
	f.broken = append(f.broken, fmt.Sprintf(format, args...))
}
