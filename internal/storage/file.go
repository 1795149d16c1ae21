package storage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/candor-mcp/candor/internal/oserror"
)

// IsFull reports whether err means that the disk or the quota is full.
func IsFull(err error) bool { return oserror.IsFull(err) }

// Remove removes a file that may not exist.
func Remove(s Storage, name string) error {
	if err := s.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// AsideSuffix ends the name of a file that is not complete yet. The file gets its final name when it is durable.
const AsideSuffix = ".new"

// WriteFile replaces a small file atomically: after a crash either the old file or the complete new one exists.
func WriteFile(s Storage, name string, data []byte, mode fs.FileMode) error {
	aside := name + AsideSuffix
	if err := Remove(s, aside); err != nil {
		return err
	}
	f, err := s.Create(aside, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := s.Rename(aside, name); err != nil { // until here the old file is unchanged
		return err
	}
	return s.SyncDir(path.Dir(name))
}

// ReadSmall reads a whole file. It returns an error if the file is larger than limit.
func ReadSmall(fsys fs.FS, name string, limit int64) ([]byte, error) {
	b, err := ReadTail(fsys, name, limit+1)
	if err == nil && int64(len(b)) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	return b, err
}

// ReadTail reads the last bytes of a file, at most limit.
func ReadTail(fsys fs.FS, name string, limit int64) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	f, err := OpenAt(fsys, name, max(0, info.Size()-limit))
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, limit))
	return b, errors.Join(err, f.Close())
}

// OpenAt opens a regular file for reading from an offset. Opening a pipe would block.
func OpenAt(fsys fs.FS, name string, off int64) (io.ReadCloser, error) {
	info, err := fs.Stat(fsys, name)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: ErrNotRegular}
	}
	if err != nil {
		return nil, err
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	if seeker, ok := f.(io.Seeker); ok {
		_, err = seeker.Seek(off, io.SeekStart)
	} else if off > 0 {
		err = &fs.PathError{Op: "seek", Path: name, Err: errors.ErrUnsupported}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
