package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/candor-mcp/candor/cmd/internal/sqlitedb"
)

// OpenReadOnly opens a database for reading. It never waits for a change of another process, and [Store.Update] must
// not be called.
//
// SQLite needs a file beside the database even for reading. If the directory cannot be written, the database is read as
// a fixed snapshot; if it has a write-ahead log with further changes, it is first copied to the directory for temporary
// files.
func OpenReadOnly(ctx context.Context, dir string) (*Store, error) {
	name := filepath.Join(dir, FileName)
	s, err := openReading(ctx, name, sqlitedb.Options{ReadOnly: true})
	switch sqlitedb.KindOf(err) {
	case sqlitedb.CantOpen, sqlitedb.ReadOnly:
		return openSnapshot(ctx, name, err)
	default:
		return s, err
	}
}

func openReading(ctx context.Context, name string, how sqlitedb.Options) (*Store, error) {
	o := Options{Wait: defaultWait, MaxBytes: defaultMaxBytes}
	read, err := open(name, o, how)
	if err != nil {
		return nil, err
	}
	read.SetMaxOpenConns(readers)
	s := &Store{o: o, name: name, read: read}
	if err := s.View(ctx, (*Tx).checkVersion); err != nil {
		return nil, errors.Join(fmt.Errorf("opening %s: %w", FileName, err), read.Close())
	}
	return s, nil
}

const logSuffix = "-wal"

// openSnapshot opens a database in a directory that cannot be written. It returns cause if the file cannot be read at
// all.
func openSnapshot(ctx context.Context, name string, cause error) (*Store, error) {
	if f, err := os.Open(name); err != nil {
		return nil, cause
	} else if err := f.Close(); err != nil {
		return nil, err
	}
	log, err := os.Stat(name + logSuffix)
	if errors.Is(err, fs.ErrNotExist) || err == nil && log.Size() == 0 {
		return openReading(ctx, name, sqlitedb.Options{ReadOnly: true, Immutable: true})
	}
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "candor-dual-*")
	if err != nil {
		return nil, err
	}
	s, err := openCopy(ctx, name, dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// openCopy opens a copy of a database and its log.
func openCopy(ctx context.Context, name, dir string) (*Store, error) {
	before := [2]os.FileInfo{}
	for i, suffix := range []string{"", logSuffix} {
		var err error
		if before[i], err = os.Stat(name + suffix); err != nil {
			return nil, err
		}
	}
	to := filepath.Join(dir, FileName)
	for i, suffix := range []string{"", logSuffix} {
		if err := copyFile(name+suffix, to+suffix, before[i].Size()); err != nil {
			return nil, err
		}
	}
	for i, suffix := range []string{"", logSuffix} {
		if after, err := os.Stat(name + suffix); err != nil || after.Size() != before[i].Size() || !after.ModTime().Equal(before[i].ModTime()) {
			return nil, errors.New("the database changes while it is copied (hint: use an account that can write its folder)")
		}
	}
	s, err := openReading(ctx, to, sqlitedb.Options{ReadOnly: true})
	if err == nil {
		s.copied = dir
	}
	return s, err
}

// copyFile copies the first size bytes of a file.
func copyFile(from, to string, size int64) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it is only read
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.CopyN(out, in, size)
	return errors.Join(err, out.Close())
}
