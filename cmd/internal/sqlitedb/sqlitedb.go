// Package sqlitedb opens SQLite databases with the settings that servers of this repository need, and sorts the errors of SQLite into
// the few kinds that a caller treats differently. docs/decisions/020-embedded-sqlite.md explains the choice of this implementation.
package sqlitedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"
)

// DefaultBusyTimeout is how long a statement waits for another connection by default.
const DefaultBusyTimeout = 5 * time.Second

// Options configures a database. The zero value reads and writes and creates the file.
type Options struct {
	ReadOnly    bool          // the file must exist and is never changed, not even by a statement that asks for it
	BusyTimeout time.Duration // how long a statement waits for another connection; 0 is DefaultBusyTimeout
	MaxMemory   int64         // bytes of memory of a connection made by Connect; 0 is the default of the library, 256 MiB

	// Connected is called with every new connection after its settings are applied; nil does nothing.
	Connected func(*sqlite3.Conn) error
}

// Open returns the database in a file. It does not touch the file: errors appear with the first statement.
//
// A database that is written uses a write-ahead log and is durable: a transaction that was committed survives a crash
// of the process and of the machine. Foreign keys are checked. Transactions of [sql.DB.Begin] take the write lock at
// once, so that they wait for it at their beginning instead of failing in their middle.
func Open(path string, o Options) (*sql.DB, error) {
	name, err := fileURL(path, o)
	if err != nil {
		return nil, err
	}
	return driver.Open(name, func(c *sqlite3.Conn) error { return connected(c, o) })
}

// Connect returns one connection to the database in a file, with the settings of [Open]. Statements end when ctx ends.
// Functions that use the connection must defer [RecoverNoMemory].
func Connect(ctx context.Context, path string, o Options) (c *sqlite3.Conn, err error) {
	name, err := fileURL(path, o)
	if err != nil {
		return nil, err
	}
	opening := ctx
	if o.MaxMemory > 0 {
		opening = sqlite3.WithMaxMemory(ctx, o.MaxMemory)
	}
	if c, err = sqlite3.OpenContext(opening, name); err != nil {
		return nil, err
	}
	c.SetInterrupt(ctx)
	if err := connected(c, o); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// RecoverNoMemory is for deferring. The library panics when a connection gets no more memory; RecoverNoMemory turns
// that panic into an error of kind [NoMemory]. The connection must not be used any more, only closed.
func RecoverNoMemory(err *error) {
	switch v := recover(); {
	case v == nil:
	case fmt.Sprint(v) == sqlite3.NOMEM.Error(): // the type of v is internal to the library
		*err = sqlite3.NOMEM
	default:
		panic(v) //nolint:forbidigo // it goes on: only the panic of the library is turned into an error
	}
}

// fileURL returns the file URL of a path. Question marks, percent signs and spaces in the path are escaped.
func fileURL(path string, o Options) (string, error) {
	if path == "" {
		return "", errors.New("sqlitedb: no path")
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	// With modeof the write-ahead log gets the mode of the database, as in other builds of SQLite.
	query := url.Values{"mode": {"rwc"}, "_txlock": {"immediate"}, "modeof": {absolute}}
	if o.ReadOnly {
		query = url.Values{"mode": {"ro"}}
	}
	slashed := filepath.ToSlash(absolute)
	if runtime.GOOS == "windows" {
		slashed = "/" + slashed
	}
	return "file://" + (&url.URL{Path: slashed}).EscapedPath() + "?" + strings.ReplaceAll(query.Encode(), "+", "%20"), nil // SQLite does not read + as a space
}

func connected(c *sqlite3.Conn, o Options) error {
	timeout := o.BusyTimeout
	if timeout == 0 {
		timeout = DefaultBusyTimeout
	}
	if err := c.BusyTimeout(timeout); err != nil {
		return err
	}
	// A database file is not trusted: functions and virtual tables with side effects cannot be used by its schema.
	settings := "PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON;"
	if o.ReadOnly {
		settings += "PRAGMA query_only=ON;"
	} else {
		settings += "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
	}
	if err := c.Exec(settings); err != nil {
		return err
	}
	if o.Connected != nil {
		return o.Connected(c)
	}
	return nil
}
