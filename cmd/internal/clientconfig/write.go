package clientconfig

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
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

// replace writes a file under a temporary name, makes it durable and renames it. unchanged, if not nil, is asked just before the
// rename. Mode and owner are those of the old file, and are set before the content is written.
func (w *writer) replace(name string, data []byte, old *target, unchanged func() error) error {
	var random [6]byte
	_, _ = rand.Read(random[:]) // never fails, see crypto/rand
	temporary := "." + name + temporaryMark + hex.EncodeToString(random[:])
	err := w.writeNew(temporary, data, old)
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
	if w.step != nil {
		if err := w.step(name); err != nil {
			return err
		}
	}
	return do()
}

func (w *writer) writeNew(name string, data []byte, old *target) error {
	var f *os.File
	err := w.call("create", func() (err error) {
		f, err = w.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		return err
	})
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name string
		do   func() error
	}{
		{"chown", func() error { return keepOwner(f, old.info) }},
		{"chmod", func() error { return f.Chmod(old.info.Mode().Perm()) }},
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

func writeAll(f *os.File, data []byte) error {
	_, err := f.Write(data)
	return err
}

// create writes a file that does not exist.
func (w *writer) create(name string, data []byte) error {
	if _, err := w.root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return errors.New("another program created the file at the same time; run the command again")
	}
	return w.call("create file", func() error { return durable.WriteFile(w.root, name, data, 0o600) })
}

// removeTemporary removes the temporary files of name and of its backups that a killed run has left.
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
	return name, w.replace(name, t.data, t, nil)
}

// backups returns the backups of a file that can be read, the newest first.
func (t *target) backups(c Client) (older []*Config) {
	root, err := os.OpenRoot(t.dir)
	if err != nil {
		return nil
	}
	defer func() { _ = root.Close() }()
	_, _ = (&writer{root: root}).backups(t.base, func(data []byte) bool {
		if config, err := Parse(c, data); err == nil {
			older = append(older, config)
		}
		return false
	})
	slices.Reverse(older) // their names end in the time
	return older
}

// backups returns the backups of a file whose content is as wanted.
func (w *writer) backups(base string, wanted func([]byte) bool) ([]string, error) {
	names, err := w.list(base + backupMark)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, name := range names {
		if data, _, err := durable.ReadIn(w.root, name, maxFile); err == nil && wanted(data) {
			found = append(found, name)
		}
	}
	return found, nil
}
