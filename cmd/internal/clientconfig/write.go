package clientconfig

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/candor-mcp/candor/internal/durable"
)

// temporaryMark is in the name of every temporary file, so that the next run can remove those of a run that was killed.
const temporaryMark = ".candor-tmp-"

// writer writes files in one folder. Every call to the system that changes something is announced to step first, where a test
// injects faults.
type writer struct {
	root *os.Root
	step func(call string) error
}

// before announces a call.
func (w *writer) before(call string) error {
	if w.step == nil {
		return nil
	}
	return w.step(call)
}

// replace writes a file under a temporary name, makes it durable and renames it. unchanged, if not nil, is asked just before the
// rename. The mode and, if old is not nil, the owner and the attributes of that file are set before the content is written.
func (w *writer) replace(name string, data []byte, mode fs.FileMode, old *target, unchanged func() error) error {
	var random [6]byte
	_, _ = rand.Read(random[:]) // never fails, see crypto/rand
	temporary := "." + name + temporaryMark + hex.EncodeToString(random[:])
	err := w.writeNew(temporary, data, mode, old)
	if err == nil && unchanged != nil {
		err = unchanged()
	}
	if err == nil {
		err = w.call("rename", func() error { return w.root.Rename(temporary, name) })
	}
	if err != nil {
		if removed := w.root.Remove(temporary); !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
		return err
	}
	return w.call("sync folder", func() error { return durable.SyncDir(w.root, ".") })
}

// call announces a call and makes it.
func (w *writer) call(name string, do func() error) error {
	if err := w.before(name); err != nil {
		return err
	}
	return do()
}

func (w *writer) writeNew(name string, data []byte, mode fs.FileMode, old *target) error {
	if err := w.before("create"); err != nil {
		return err
	}
	f, err := w.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name string
		do   func() error
	}{
		{"chown", func() error {
			if old == nil {
				return nil
			}
			return keepOwner(f, old.info)
		}},
		{"set attributes", func() error {
			if old == nil {
				return nil
			}
			return w.keepAttributes(f, old)
		}},
		{"chmod", func() error { return f.Chmod(mode) }},
		{"write", func() error { return writeAll(f, data[:len(data)/2]) }},
		{"write rest", func() error { return writeAll(f, data[len(data)/2:]) }},
		{"sync", func() error { return durable.SyncData(f) }},
	} {
		if err := w.call(c.name, c.do); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return w.call("close", f.Close)
}

// keepAttributes gives f the extended attributes of the file that it replaces, with its access control list.
func (w *writer) keepAttributes(f *os.File, old *target) error {
	from, err := w.root.Open(old.base)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // it was only read
	return copyAttributes(f, from)
}

func writeAll(f *os.File, data []byte) error {
	_, err := f.Write(data)
	return err
}

// removeTemporary removes the temporary files of name and of its backups that a killed run has left. The caller holds the lock.
func (w *writer) removeTemporary(name string) error {
	names, err := w.list("." + name + ".candor-")
	if err != nil {
		return err
	}
	for _, n := range names {
		if !strings.Contains(n, temporaryMark) {
			continue
		}
		if err := w.call("remove", func() error { return w.root.Remove(n) }); err != nil {
			return err
		}
	}
	return nil
}

// list returns the names in the folder that begin with prefix.
func (w *writer) list(prefix string) ([]string, error) {
	entries, err := fs.ReadDir(w.root.FS(), ".")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// backupMark separates the name of a file from the time of its backup.
const backupMark = ".candor-backup-"

// backup keeps the content of a file beside it, and returns the name. A backup with the same content is used again.
func (w *writer) backup(t *target, stamp string) (string, error) {
	same, err := w.backups(t.base, func(data []byte) bool { return bytes.Equal(data, t.data) })
	if err != nil {
		return "", err
	}
	if len(same) > 0 {
		return same[0], nil
	}
	name := t.base + backupMark + stamp
	for i := 2; ; i++ {
		if _, err := w.root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			break
		}
		name = fmt.Sprintf("%s%s%s-%d", t.base, backupMark, stamp, i)
	}
	return name, w.replace(name, t.data, t.info.Mode().Perm(), t, nil)
}

// backups returns the backups of a file whose content is as wanted.
func (w *writer) backups(base string, wanted func([]byte) bool) ([]string, error) {
	names, err := w.list(base + backupMark)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, name := range names {
		info, err := w.root.Stat(name)
		if err != nil || info.Size() > maxFile {
			continue
		}
		if data, err := w.root.ReadFile(name); err == nil && wanted(data) {
			found = append(found, name)
		}
	}
	return found, nil
}
