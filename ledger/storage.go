package ledger

import (
	"io/fs"
	"time"
)

// storage is the little of a file system that the ledger needs. The real one is the operating system's; tests put in one that
// crashes, fills up or lies. Names are relative to the ledger's folder, with slashes.
type storage interface {
	// Create makes a new file for appending; it must not exist. It is durable only after Sync and SyncDir.
	Create(name string, mode fs.FileMode) (file, error)
	// OpenAppend opens an existing file for appending at its end.
	OpenAppend(name string) (file, error)
	// ReadAt and Size read without keeping anything open.
	ReadAt(name string, p []byte, off int64) (int, error)
	Stat(name string) (size int64, modified time.Time, err error)
	// WriteFile puts a small file in place as a whole: written aside, synced, renamed, folder synced.
	WriteFile(name string, data []byte, mode fs.FileMode) error
	Truncate(name string, size int64) error // durable when it returns
	Rename(from, to string) error           // durable after SyncDir
	Remove(name string) error
	MkdirAll(name string, mode fs.FileMode) error
	List(dir string) ([]string, error)
	SyncDir(dir string) error
	// Lock takes an exclusive lock on a file, creating it, or returns errLocked at once. The lock ends with the process.
	Lock(name string) (release func() error, err error)
	// Free returns the bytes that can still be written.
	Free() (uint64, error)
}

// file is a segment that is being written.
type file interface {
	Write(p []byte) (int, error)
	// Sync makes all that was written durable (fdatasync). Once it fails the file must not be written again.
	Sync() error
	// Reserve asks for space behind the end without changing the visible size. It may do nothing.
	Reserve(bytes int64) error
	Close() error
}
