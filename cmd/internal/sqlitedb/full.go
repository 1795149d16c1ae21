package sqlitedb

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/ncruces/go-sqlite3"

	"github.com/candor-mcp/candor/internal/oserror"
)

// KindAt is [KindOf] for an error of the database in a file. A failed write is Full if the disk has no space left: the driver reports
// it as any other I/O error, and the error of the operating system is lost when SQLite unlocks the file after it.
func KindAt(err error, path string) Kind {
	kind := KindOf(err)
	if kind == Other && isWriteError(err) && diskFull(filepath.Dir(path)) {
		return Full
	}
	return kind
}

func isWriteError(err error) bool {
	for _, code := range []sqlite3.ExtendedErrorCode{sqlite3.IOERR_WRITE, sqlite3.IOERR_FSYNC, sqlite3.IOERR_TRUNCATE, sqlite3.IOERR_SHMSIZE} {
		if errors.Is(err, code) {
			return true
		}
	}
	return false
}

// probeBytes is the number of bytes that diskFull tries to write: more than the largest page of SQLite.
const probeBytes = 128 << 10

// diskFull tries to write to a folder. This finds a quota, too, which the number of free blocks does not show.
func diskFull(dir string) bool {
	f, err := os.CreateTemp(dir, ".space-*")
	if err == nil {
		defer os.Remove(f.Name()) //nolint:errcheck // it is empty, or as large as the disk allowed, and closed
		defer f.Close()           //nolint:errcheck // what counts is whether the write succeeds
		if _, err = f.Write(make([]byte, probeBytes)); err == nil {
			err = f.Sync()
		}
	}
	return oserror.IsFull(err)
}
