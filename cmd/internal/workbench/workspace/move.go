package workspace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// owner is the owner of a file; -1 if unknown.
type owner struct{ UID, GID int }

// content is one side of a move: the content of a file, or its absence.
type content struct {
	hash  string // "" if the file does not exist
	bytes []byte
	mode  fs.FileMode
	owner owner
}

func absent() content { return content{owner: owner{-1, -1}} }

// move replaces the content of one file. The undo is the same move with its sides exchanged.
type move struct {
	path     Path
	from, to content
	temp     string   // name beside the target: holds the new content before the rename, and the old content briefly after it
	dir      *os.Root // folder of the target, from prepare to release
	left     bool     // a temporary file exists or may exist
	done     bool     // the target has the new content
	replace  bool     // the undo replaces the target regardless of its content, because it cannot be read
}

const tempPrefix = ".candor-"

// newTempName returns an unguessable name, so that an attacker cannot create a link with it.
func newTempName() string { return tempPrefix + strings.ToLower(rand.Text()) + ".tmp" }

func isTempName(name string) bool {
	return strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, ".tmp") && !strings.ContainsAny(name, "/\\") && len(name) <= 64
}

// prepare opens the folder of the target and writes the new content to a temporary file there, durably. It does not
// change the target. The folder stays open until release, so that the temporary file can be found even if the folder is
// moved.
func (m *move) prepare(f *Folder) (err error) {
	if m.dir, err = f.walk(m.path.parent()); err != nil {
		return err
	}
	return writeFault(f, m.path, m.write(f))
}

func (m *move) write(f *Folder) error {
	if m.to.hash == "" {
		return nil
	}
	file, err := m.dir.OpenFile(m.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, m.to.mode.Perm())
	if err != nil {
		return err
	}
	m.left = true
	f.testHook("made a temporary file")
	_, err = file.Write(m.to.bytes)
	if m.to.owner.UID >= 0 { // a replaced file keeps its owner; a new file has the default
		_ = file.Chown(m.to.owner.UID, m.to.owner.GID) // best effort: only root can set another owner
		err = errors.Join(err, file.Chmod(m.to.mode.Perm()))
	}
	return errors.Join(err, file.Sync(), file.Close())
}

// turn gives the target its new content if it still has the old one. All checks and renames use one open folder, which
// must be the one that the path refers to, before and after: if the folder was moved in the meantime, turn restores the
// old content in it.
func (m *move) turn(f *Folder) error {
	if err := m.is(f, m.path.base(), m.from.hash); err != nil {
		return err
	}
	f.testHook("checked")
	if err := f.inPlace(m.dir, m.path.parent()); err != nil {
		return err
	}
	f.testHook("in place")
	if err := m.rename(f); err != nil {
		return writeFault(f, m.path, err)
	}
	m.done = true
	f.testHook("renamed")
	if err := f.inPlace(m.dir, m.path.parent()); err != nil {
		m.done = m.backHere(f) != nil
		return err
	}
	if err := syncFolder(m.dir); err != nil {
		return writeFault(f, m.path, err)
	}
	if err := m.readBack(f); err != nil {
		return err
	}
	return m.keepsMode(f)
}

// changesMode reports whether the move changes the permission bits of an existing file.
func (m *move) changesMode() bool {
	return m.from.hash != "" && m.to.hash != "" && m.from.mode != m.to.mode
}

// keepsMode returns an error if the file system has dropped the executable bit, as some do silently.
func (m *move) keepsMode(f *Folder) error {
	const executable = 0o100
	if m.to.hash == "" || !m.changesMode() && m.to.mode&executable == 0 {
		return nil
	}
	info, err := m.dir.Lstat(m.path.base())
	if err != nil {
		return f.access(m.path, err, kaiza.FileWriteFailed)
	}
	if info.Mode().Perm()&executable != m.to.mode&executable {
		return fault(kaiza.FileWriteFailed, m.path, "cannot have this mode: the file system does not keep it.", nil)
	}
	return nil
}

// readBack checks that the target has the new content on disk.
func (m *move) readBack(f *Folder) error {
	err := m.is(f, m.path.base(), m.to.hash)
	if err == nil {
		return nil
	}
	return candor.InvariantViolation("INV_WRITE_READS_BACK", fmt.Sprintf("%q does not hold what was written to it.", m.path.String()), candor.WithCause(err),
		candor.WithDetails(map[string]any{"path": m.path.String()}))
}

// rename renames the temporary file to the target. If the system can exchange two names, rename checks the replaced file
// once more and restores it if it was changed after the last check; on other systems such a change is lost.
func (m *move) rename(f *Folder) error {
	base := m.path.base()
	if m.from.hash == "" {
		err := renameNew(m.dir, m.temp, base)
		if errors.Is(err, fs.ErrExist) {
			return fault(kaiza.FileAlreadyExists, m.path, "exists already.", err)
		}
		m.left = err != nil
		return err
	}
	give, takeBack := exchange, exchange
	if m.to.hash == "" {
		give, takeBack = func(dir *os.Root, temp, base string) error { return renameNew(dir, base, temp) }, renameNew
	}
	err := give(m.dir, m.temp, base)
	if errors.Is(err, errors.ErrUnsupported) {
		err = m.dir.Rename(m.temp, base)
		m.left = err != nil
		return err
	}
	if err != nil {
		return err
	}
	f.testHook("exchanged")
	if err := m.is(f, m.temp, m.from.hash); err != nil {
		failed := takeBack(m.dir, m.temp, base)
		m.left = m.left && failed == nil // temp may hold an edit of another process, which is kept;
		m.done = failed != nil           // the target then has the new content, which is reported
		return errors.Join(err, failed)
	}
	m.left = m.dir.Remove(m.temp) != nil // discard tries again
	return nil
}

// renameUnlessThere renames without replacing a file, for systems that cannot do it atomically.
func renameUnlessThere(dir *os.Root, from, to string) error {
	if _, err := dir.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fs.ErrExist, err)
	}
	return dir.Rename(from, to)
}

// is checks that a name beside the target has the content with a hash; an empty hash means that the file must not exist.
func (m *move) is(f *Folder, name, hash string) error {
	now, err := f.readPlain(m.dir, m.path, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if hash != "" {
			return fault(kaiza.FileNotFound, m.path, "does not exist any more.", err)
		}
	case err != nil:
		return f.access(m.path, err, kaiza.FileWriteFailed)
	case hash == "":
		return fault(kaiza.FileAlreadyExists, m.path, "exists already.", nil)
	case now.Hash != hash:
		return changedMeanwhile(m.path)
	}
	return nil
}

// adopt treats the current content of the target as the result of the move.
func (m *move) adopt(f *Folder) error {
	dir, err := f.walk(m.path.parent())
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // opened for reading
	now, err := f.readPlain(dir, m.path, m.path.base())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		m.to = absent()
	case err != nil:
		return f.access(m.path, err, kaiza.FileReadFailed)
	case now.Hash != m.to.hash:
		m.to = content{hash: now.Hash, bytes: now.Content, mode: now.Mode.Perm(), owner: now.owner}
	}
	m.done = m.to.hash != m.from.hash || m.changesMode() && now.Mode.Perm() != m.from.mode // otherwise it already has the old content
	return nil
}

// inPlace checks that a path still refers to an open folder.
func (f *Folder) inPlace(dir *os.Root, p Path) error {
	again, err := f.walk(p)
	if err != nil {
		return err
	}
	defer again.Close() //nolint:errcheck // opened for reading
	held, errHeld := dir.Stat(".")
	there, errThere := again.Stat(".")
	if err := errors.Join(errHeld, errThere); err != nil || !os.SameFile(held, there) {
		return fault(kaiza.FileWriteFailed, p, "was moved while it was being changed.", err)
	}
	return nil
}

// reversed returns the opposite move, with the temporary name of the journal.
func (m *move) reversed() move {
	return move{path: m.path, from: m.to, to: m.from, temp: m.temp}
}

// back undoes a completed move.
func (m *move) back(f *Folder) error {
	if m.replace {
		return m.restore(f)
	}
	r := m.reversed()
	defer r.release()
	if err := r.prepare(f); err != nil {
		return err
	}
	return r.turn(f)
}

// backHere undoes a move in the folder where it was made, even if that folder was moved since.
func (m *move) backHere(f *Folder) error {
	r := m.reversed()
	r.dir = m.dir
	defer r.discard()
	if err := r.is(f, m.path.base(), r.from.hash); err != nil {
		return err
	}
	m.discard() // the undo needs the name
	if err := r.write(f); err != nil {
		return err
	}
	return errors.Join(r.rename(f), syncFolder(r.dir))
}

// discard removes the temporary file if it exists. Its unguessable name ensures that it is not another file.
func (m *move) discard() {
	if m.left && m.dir != nil {
		_ = errors.Join(m.dir.Remove(m.temp), syncFolder(m.dir)) // the journal names a file that remains
		m.left = false
	}
}

// release ends the use of the folder that prepare opened. It may be called again.
func (m *move) release() {
	m.discard()
	if m.dir != nil {
		_ = m.dir.Close()
		m.dir = nil
	}
}
