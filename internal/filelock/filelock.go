// Package filelock opens files with an exclusive lock that holds across processes. The operating system releases the
// lock when its holder exits.
package filelock

import "errors"

// ErrLocked means that another open file holds the lock.
var ErrLocked = errors.New("locked by another opening")
