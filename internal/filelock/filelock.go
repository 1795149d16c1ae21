// Package filelock opens files that one opener at a time may hold, across processes. The system gives a lock back when its holder dies.
package filelock

import "errors"

// ErrLocked is returned while another opening holds the lock.
var ErrLocked = errors.New("locked by another opening")
