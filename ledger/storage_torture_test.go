package ledger_test

import (
	"errors"
	"io/fs"

	"github.com/candor-mcp/candor/internal/storage"
	"github.com/candor-mcp/candor/internal/testing/crashfs"
)

// crashStorage adapts a [crashfs.FS] to [storage.Storage].
type crashStorage struct{ *crashfs.FS }

var _ storage.Storage = crashStorage{}

func (s crashStorage) Create(name string, mode fs.FileMode) (storage.File, error) {
	f, err := s.FS.Create(name, mode)
	if err != nil {
		return nil, err // not f: an interface with a nil pointer is not nil
	}
	return f, nil
}

func (s crashStorage) OpenAppend(name string) (storage.File, error) {
	f, err := s.FS.OpenAppend(name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (s crashStorage) Watch(name string) (storage.Watch, error) { return s.FS.Watch(name) }

func (s crashStorage) Lock(name string, note []byte) (func() error, error) {
	release, err := s.FS.Lock(name, note)
	if errors.Is(err, crashfs.ErrLocked) {
		return nil, storage.ErrLocked
	}
	return release, err
}
