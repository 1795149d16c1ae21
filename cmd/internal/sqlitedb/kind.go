package sqlitedb

import (
	"errors"

	"github.com/ncruces/go-sqlite3"

	"github.com/candor-mcp/candor/internal/oserror"
)

// Kind classifies an error by how a caller handles it.
type Kind int

// The kinds of errors.
const (
	Other       Kind = iota // everything else, and errors that are not of SQLite
	Busy                    // another connection held the database beyond the busy timeout; nothing was changed
	Full                    // the disk or the configured size is full; the statement was undone
	ReadOnly                // the database cannot be written
	Constraint              // a constraint was violated: unique, foreign key, not null, check
	Corrupt                 // the file is damaged or is not a database
	CantOpen                // the file is missing or cannot be opened
	Interrupted             // the context of the statement ended
	Denied                  // the authorizer refused the statement
	NoMemory                // the connection has used all the memory that it may
)

var kinds = map[sqlite3.ErrorCode]Kind{
	sqlite3.BUSY: Busy, sqlite3.LOCKED: Busy, sqlite3.PROTOCOL: Busy, // PROTOCOL: a lock of the -shm file was not to be had
	sqlite3.FULL:       Full,
	sqlite3.READONLY:   ReadOnly,
	sqlite3.CONSTRAINT: Constraint,
	sqlite3.CORRUPT:    Corrupt, sqlite3.NOTADB: Corrupt,
	sqlite3.CANTOPEN:  CantOpen,
	sqlite3.INTERRUPT: Interrupted,
	sqlite3.AUTH:      Denied,
	sqlite3.NOMEM:     NoMemory,
}

// KindOf returns the kind of an error.
func KindOf(err error) Kind {
	code, ok := errors.AsType[sqlite3.ErrorCode](err)
	switch {
	case !ok:
		return Other
	case code == sqlite3.IOERR && oserror.IsFull(err):
		return Full
	}
	return kinds[code]
}

// IsUnique reports whether an error is the violation of a unique constraint or primary key.
func IsUnique(err error) bool {
	return errors.Is(err, sqlite3.CONSTRAINT_UNIQUE) || errors.Is(err, sqlite3.CONSTRAINT_PRIMARYKEY) || errors.Is(err, sqlite3.CONSTRAINT_ROWID)
}
