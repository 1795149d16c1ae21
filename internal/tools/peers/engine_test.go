package peers

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"
	_ "modernc.org/sqlite"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/ledger"
)

// engine is a store in which a record is durable when append has returned.
type engine struct {
	name   string
	append func(record []byte) error
	close  func() error
}

// opener opens an engine in an empty folder. It may tune the engine for the number of callers.
type opener func(tb testing.TB, dir string, callers int) engine

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// openOurs opens the ledger. It redacts, numbers, links and hashes each entry; the other engines get the finished line.
func openOurs(tb testing.TB, dir string, _ int) engine {
	l, err := ledger.Open(dir, ledger.Options{})
	must(tb, err)
	return engine{"ledger", func([]byte) error {
		_, err := l.Append(context.Background(), entry)
		return err
	}, l.Close}
}

// entry is a failure as a server records it.
var entry = ledger.Entry{
	Kind: ledger.KindFailure, Ref: "01JD3T8J5Y6B0Q", Call: "7f3a", Tool: "read_file", Code: candor.CodeNotFound, Outcome: ledger.OutcomeError,
	Args: []byte(`{"path":"notes/today.md"}`), Latency: 1200 * time.Microsecond,
	Envelope: []byte(`{"error":{"code":"NOT_FOUND","message":"no such file: notes/today.md","retry":{"kind":"not_retryable"},"ref":"01JD3T8J5Y6B0Q"}}`),
}

// line returns the same entry as a line of a ledger.
func line(tb testing.TB) []byte {
	dir := tb.TempDir()
	l, err := ledger.Open(dir, ledger.Options{})
	must(tb, err)
	_, err = l.Append(tb.Context(), entry)
	must(tb, errors.Join(err, l.Close()))
	names, err := filepath.Glob(filepath.Join(dir, "*", "audit-log.jsonl"))
	must(tb, err)
	text, err := os.ReadFile(names[0])
	must(tb, err)
	return bytes.Split(text, []byte("\n"))[1] // the first line has the settings of the ledger
}

// openPlain is the simplest implementation: append, fdatasync, one record at a time.
func openPlain(tb testing.TB, dir string, _ int) engine {
	f, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	must(tb, err)
	var mu sync.Mutex
	return engine{"plain", func(record []byte) error {
		mu.Lock()
		defer mu.Unlock()
		if _, err := f.Write(append(record[:len(record):len(record)], '\n')); err != nil {
			return err
		}
		return syscall.Fdatasync(int(f.Fd()))
	}, f.Close}
}

// openBolt uses bbolt's batches with default settings: a batch waits 10 ms for more.
func openBolt(tb testing.TB, dir string, _ int) engine {
	db, err := bbolt.Open(filepath.Join(dir, "db"), 0o600, nil)
	must(tb, err)
	bucket := []byte("log")
	must(tb, db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket(bucket)
		return err
	}))
	return engine{"bbolt", func(record []byte) error {
		return db.Batch(func(tx *bbolt.Tx) error {
			b := tx.Bucket(bucket)
			b.FillPercent = 1 // keys only grow
			seq, err := b.NextSequence()
			if err != nil {
				return err
			}
			key := [8]byte{byte(seq >> 56), byte(seq >> 48), byte(seq >> 40), byte(seq >> 32), byte(seq >> 24), byte(seq >> 16), byte(seq >> 8), byte(seq)}
			return b.Put(key[:], record)
		})
	}, db.Close}
}

func openDB(tb testing.TB, dir string) *sql.DB {
	db, err := sql.Open("sqlite", filepath.Join(dir, "db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	must(tb, err)
	db.SetMaxOpenConns(1) // SQLite allows only one writer at a time
	_, err = db.Exec("CREATE TABLE log (seq INTEGER PRIMARY KEY, record BLOB NOT NULL)")
	must(tb, err)
	return db
}

// waiting is a record that waits for its batch.
type waiting struct {
	record []byte
	done   chan error
}

// openSQLiteBatched commits everything that was queued during the last commit, as the ledger does.
func openSQLiteBatched(tb testing.TB, dir string, callers int) engine {
	db := openDB(tb, dir)
	queue, ended := make(chan waiting, callers), make(chan struct{})
	go func() {
		defer close(ended)
		for first := range queue {
			batch := []waiting{first}
			for len(queue) > 0 {
				batch = append(batch, <-queue)
			}
			err := commit(db, batch)
			for _, w := range batch {
				w.done <- err
			}
		}
	}()
	return engine{"sqlite-batched", func(record []byte) error {
		w := waiting{record, make(chan error, 1)}
		queue <- w
		return <-w.done
	}, func() error {
		close(queue)
		<-ended
		return db.Close()
	}}
}

func commit(db *sql.DB, batch []waiting) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // does nothing after a commit
	insert, err := tx.Prepare("INSERT INTO log (record) VALUES (?)")
	if err != nil {
		return err
	}
	for _, w := range batch {
		if _, err := insert.Exec(w.record); err != nil {
			return err
		}
	}
	return tx.Commit()
}
