// Package storage is the part of a file system that a ledger needs, and its implementation on the operating system.
package storage

import (
	"errors"
	"io/fs"
	"time"
)

// Storage is the part of a file system that a ledger needs. [Dir] is the real one; tests use one that crashes, fills up or
// returns errors. Names are relative to the ledger's folder, with slashes.
type Storage interface {
	// Create makes a new file for appending; it must not exist. It is durable only after Sync and SyncDir.
	Create(name string, mode fs.FileMode) (File, error)
	// OpenAppend opens an existing file for appending at its end.
	OpenAppend(name string) (File, error)
	// ReadAt reads as an io.ReaderAt does, without keeping anything open.
	ReadAt(name string, p []byte, off int64) (int, error)
	Stat(name string) (size int64, modified time.Time, err error)
	// WriteFile puts a small file in place as a whole: written aside, synced, renamed, folder synced.
	WriteFile(name string, data []byte, mode fs.FileMode) error
	Rename(from, to string) error // durable after SyncDir
	Remove(name string) error     // durable after SyncDir
	MkdirAll(name string, mode fs.FileMode) error
	// List returns the names in a folder, sorted; folders end in a slash.
	List(dir string) ([]string, error)
	SyncDir(dir string) error
	// Lock takes an exclusive lock on a file, creating it, puts the note into it, and keeps it until released; or returns
	// ErrLocked at once. The lock ends with the process.
	Lock(name string, note []byte) (release func() error, err error)
	// Watch remembers which file has this name. The watch it returns looks the name up by its path, not through what is held open.
	Watch(name string) (Watch, error)
	// Reopen makes the ledger's folder again if it is not at its path any more, and works there from then on. It reports whether it had to.
	Reopen() (moved bool, err error)
	// Free returns the bytes that can still be written.
	Free() (uint64, error)
	// Close gives back what the storage itself holds.
	Close() error
}

// File is a file that is being written.
type File interface {
	// Write appends. Fewer bytes than given come with an error.
	Write(p []byte) (int, error)
	// Sync makes all that was written durable (fdatasync). Once it fails the file must not be written again.
	Sync() error
	// Truncate cuts the file; durable only after Sync.
	Truncate(size int64) error
	// Reserve asks for space behind the end without changing the visible size. It may do nothing.
	Reserve(bytes int64) error
	// Trim gives back the space behind the end that Reserve asked for.
	Trim() error
	Close() error
}

// Watch returns the size of the file that was remembered, or an error if its name leads to another file or to none.
type Watch func() (size int64, err error)

// ErrReplaced says that a name leads to another file than it did.
var ErrReplaced = errors.New("replaced by another file")

// ErrNotRegular says that a name leads to a pipe, a device or a folder.
var ErrNotRegular = errors.New("not a regular file")

// ErrLocked is returned when another process holds the lock.
var ErrLocked = errors.New("lock held by another process")
