// Package storage is the part of a file system that a ledger needs, and its implementation on the operating system.
package storage

import (
	"errors"
	"io/fs"

	"github.com/candor-mcp/candor/internal/filelock"
)

// Storage is the part of a file system that a ledger needs. [Dir] implements it on the operating system; tests use
// one that crashes, fills up or returns errors. Names are relative to the ledger's folder and use slashes.
type Storage interface {
	// Create creates a file for appending; it must not exist. It is durable only after Sync and SyncDir.
	Create(name string, mode fs.FileMode) (File, error)
	// OpenAppend opens an existing file for appending at its end.
	OpenAppend(name string) (File, error)
	// Files returns the folder for reading. Its files implement io.Seeker.
	Files() fs.FS
	Rename(from, to string) error // durable after SyncDir
	Remove(name string) error     // durable after SyncDir
	MkdirAll(name string, mode fs.FileMode) error
	SyncDir(dir string) error
	// Lock acquires an exclusive lock on a file, which it creates if needed, and writes the note into it. It returns
	// ErrLocked without waiting if the lock is held. The lock is released by release or when the process exits.
	Lock(name string, note []byte) (release func() error, err error)
	// Watch remembers the file with this name. The returned watch looks the name up by its path, not through an open
	// folder.
	Watch(name string) (Watch, error)
	// Reopen creates the ledger's folder again if it is no longer at its path, and uses the new one from then on. It
	// reports whether it did.
	Reopen() (moved bool, err error)
	// Close releases the resources of the storage itself.
	Close() error
}

// File is a file that is being written.
type File interface {
	// Write appends. If it writes fewer bytes than given it returns an error.
	Write(p []byte) (int, error)
	// Sync makes all written bytes durable (fdatasync). Once it has failed the file must not be written again.
	Sync() error
	// Truncate changes the size, which is durable only after Sync.
	Truncate(size int64) error
	// Reserve allocates space after the end without changing the visible size. It may do nothing.
	Reserve(bytes int64) error
	// Trim releases the unused space that Reserve allocated.
	Trim() error
	Close() error
}

// Watch returns the size of the watched file, or an error if its name leads to another file or does not exist.
type Watch func() (size int64, err error)

// ErrReplaced means that a name now leads to another file.
var ErrReplaced = errors.New("replaced by another file")

// ErrNotRegular means that a name leads to a pipe, a device or a folder.
var ErrNotRegular = errors.New("not a regular file")

// ErrLocked is returned when another process holds the lock.
var ErrLocked = filelock.ErrLocked
