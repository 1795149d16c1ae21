// Package durable replaces small files atomically: after a crash a file has either its old or its new content.
package durable

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
)

// WriteFile atomically replaces a file below root. When it returns a nil error the new content is on the disk.
func WriteFile(root *os.Root, name string, data []byte, mode fs.FileMode) error {
	var random [6]byte
	_, _ = rand.Read(random[:]) // never fails, see crypto/rand
	temporary := path.Join(path.Dir(name), "."+path.Base(name)+"."+hex.EncodeToString(random[:])+".tmp")
	if err := writeNew(root, temporary, data, mode); err != nil {
		return errors.Join(err, IgnoreMissing(root.Remove(temporary)))
	}
	if err := root.Rename(temporary, name); err != nil {
		return errors.Join(err, IgnoreMissing(root.Remove(temporary)))
	}
	return SyncDir(root, path.Dir(name))
}

func writeNew(root *os.Root, name string, data []byte, mode fs.FileMode) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = SyncData(f)
	}
	return errors.Join(err, f.Close())
}

// MkdirAll creates a folder and its parents, with mode 0700. If the name of a folder is not durable, its content is not either.
func MkdirAll(dir string) error {
	if isFolder(dir) {
		return nil
	}
	above := filepath.Dir(dir)
	if above != dir {
		if err := MkdirAll(above); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		if isFolder(dir) {
			return nil // another process created it first
		}
		return err
	}
	root, err := os.OpenRoot(above)
	if err != nil {
		return err
	}
	return errors.Join(SyncDir(root, "."), root.Close())
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// SyncDir makes the names in a folder durable. Windows needs no sync of folders.
func SyncDir(root *os.Root, name string) error {
	dir, err := root.Open(name)
	if err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		return dir.Close()
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// IgnoreMissing returns err, or nil if it means that a file does not exist.
func IgnoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
