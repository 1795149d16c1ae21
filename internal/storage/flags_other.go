//go:build !unix

package storage

import "io"

// Windows refuses to truncate a file that was opened for appending only. Write moves to the end instead.
const (
	appendFlag  = 0
	nonBlocking = 0
)

// Write appends p. No other process writes to the file, because the chain is locked.
func (f osFile) Write(p []byte) (int, error) {
	if _, err := f.Seek(0, io.SeekEnd); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}
