// Package crashfs is an in-memory file system for tests of durability. It can lose power, run full, fail, and report
// success although data is not on the disk.
//
// It guarantees only what POSIX specifies and disks provide: bytes are durable after a successful Sync of their file,
// names after a SyncDir of their folder. Everything else may or may not exist after [FS.Crash], sector by sector and
// name by name, whatever the order of the writes. After a failed Sync later reads and Syncs succeed, although the
// data may never have reached the disk.
package crashfs

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"sync"
)

// ErrLocked means that a lock is held.
var ErrLocked = errors.New("crashfs: locked")

// FS is the file system. Names use slashes and are relative to its root, which is ".". Its methods are safe for
// concurrent use.
type FS struct {
	mu      sync.Mutex
	root    *node
	pending []change // names that changed since their folder was synced
	plan    plan
	ops     int
	limit   int64 // 0 means no limit
	open    int   // files and locks that are not closed yet
	broken  []string
	after   func(index int, op Op, cut func(*rand.Rand) *FS)
}

// New returns an empty file system.
func New() *FS { return &FS{root: newFolder(0o700)} }

// Plant makes the operation with this index, from 0, fail, or the first later operation that can fail in this way.
func (f *FS) Plant(fault Fault, index int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.plan = plan{fault: fault, at: index}
}

// Heal removes the planted fault and reports whether it struck.
func (f *FS) Heal() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	hit := f.plan.hit
	f.plan = plan{}
	return hit
}

// After sets a function that is called after every operation, while other operations wait. It may call cut any number
// of times: each call returns the result of another power cut, and f is not changed.
func (f *FS) After(do func(index int, op Op, cut func(*rand.Rand) *FS)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.after = do
}

// SetLimit limits the total size of all files. 0 means no limit.
func (f *FS) SetLimit(bytes int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.limit = bytes
}

// Ops returns the number of operations so far.
func (f *FS) Ops() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ops
}

// Open returns the number of files and locks that are not closed.
func (f *FS) Open() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open
}

// Reserved returns the bytes that files have reserved and do not use. A reservation outlasts the process and a power
// cut.
func (f *FS) Reserved() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return reserved(f.root)
}

// Broken returns the violated rules: a file was written or synced after a Sync of it had failed, or a closed file was
// used.
func (f *FS) Broken() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.broken)
}

// begin counts an operation and returns the planted error if the operation is to fail. The caller holds the lock, and
// calls done.
func (f *FS) begin(op Op, name string) (Fault, error) {
	index := f.ops
	f.ops++
	if !f.plan.strikes(index, op) {
		return "", nil
	}
	return f.plan.fault, &fs.PathError{Op: string(op), Path: name, Err: f.plan.fault.err()}
}

// do runs one operation, unless a planted fault strikes.
func (f *FS) do(op Op, name string, run func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.done(op)
	if _, err := f.begin(op, name); err != nil {
		return err
	}
	return run()
}

func (f *FS) done(op Op) {
	if f.after != nil {
		f.after(f.ops-1, op, f.crash)
	}
}

// violated records that a rule was violated.
func (f *FS) violated(format string, args ...any) {
	f.broken = append(f.broken, fmt.Sprintf(format, args...))
}
