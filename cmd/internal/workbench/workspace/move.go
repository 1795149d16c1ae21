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

// content is one side of a move: what a file holds, or that it is not there.
type content struct {
	hash  string // "" if the file does not exist
	bytes []byte
	mode  fs.FileMode
	owner owner
}

func absent() content { return content{owner: owner{-1, -1}} }

// move takes one file from one content to another. The way back is the same move with its sides exchanged.
type move struct {
	path     Path
	from, to content
	temp     string   // name beside the target: the new content before the turn, the old one for a moment after it
	dir      *os.Root // folder of the target, from prepare to release
	left     bool     // there is, or may be, something of ours under temp
	done     bool     // the target has the new content
	replace  bool     // the way back replaces the target whatever it is: the checks have left something that cannot be read
}

const tempPrefix = ".candor-"

// newTempName returns an unguessable name, so that no link can be prepared under it.
func newTempName() string { return tempPrefix + strings.ToLower(rand.Text()) + ".tmp" }

func isTempName(name string) bool {
	return strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, ".tmp") && !strings.ContainsAny(name, "/\\") && len(name) <= 64
}

// prepare opens the folder of the target and writes the new content there, durably. No visible file has changed
// afterwards. The folder stays open until release, so that what was written can be found again even if the folder is moved.
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
	if m.to.owner.UID >= 0 { // an old file keeps what it had; a new one gets what the umask leaves
		_ = file.Chown(m.to.owner.UID, m.to.owner.GID) // only root may give files away; for others there is nothing to keep
		err = errors.Join(err, file.Chmod(m.to.mode.Perm()))
	}
	return errors.Join(err, file.Sync(), file.Close())
}

// turn gives the target its new content, if it still has the old one. All looks and renames are anchored at one open folder, which
// must be where the path says, before and after: a folder that was moved away meanwhile gets its old content back.
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

// changesMode reports a move that gives a file that was there other permission bits.
func (m *move) changesMode() bool {
	return m.from.hash != "" && m.to.hash != "" && m.from.mode != m.to.mode
}

// keepsMode fails if the file system has dropped the executable bit, as some do without an error.
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

// readBack looks at what the disk has now.
func (m *move) readBack(f *Folder) error {
	err := m.is(f, m.path.base(), m.to.hash)
	if err == nil {
		return nil
	}
	return candor.InvariantViolation("INV_WRITE_READS_BACK", fmt.Sprintf("%q does not hold what was written to it.", m.path.String()), candor.WithCause(err),
		candor.WithDetails(map[string]any{"path": m.path.String()}))
}

// rename turns the names over. Where the system can exchange two names, what was replaced is looked at once more, and is put back if
// somebody changed it after the last look; elsewhere that moment stays open.
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
		m.left = m.left && failed == nil // temp may hold an edit of another process: it stays, and
		m.done = failed != nil           // the target holds our content, which is reported
		return errors.Join(err, failed)
	}
	m.left = m.dir.Remove(m.temp) != nil // tried again by discard
	return nil
}

// renameUnlessThere is the portable way not to replace anything: as good as two steps can be.
func renameUnlessThere(dir *os.Root, from, to string) error {
	if _, err := dir.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fs.ErrExist, err)
	}
	return dir.Rename(from, to)
}

// is checks that a name beside the target holds the content of a hash; the empty hash is no file at all.
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

// adopt takes what the target holds now for what the move made of it.
func (m *move) adopt(f *Folder) error {
	dir, err := f.walk(m.path.parent())
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // it was only looked at
	now, err := f.readPlain(dir, m.path, m.path.base())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		m.to = absent()
	case err != nil:
		return f.access(m.path, err, kaiza.FileReadFailed)
	case now.Hash != m.to.hash:
		m.to = content{hash: now.Hash, bytes: now.Content, mode: now.Mode.Perm(), owner: now.owner}
	}
	m.done = m.to.hash != m.from.hash || m.changesMode() && now.Mode.Perm() != m.from.mode // else it is back already
	return nil
}

// inPlace checks that an open folder is the one a path leads to now.
func (f *Folder) inPlace(dir *os.Root, p Path) error {
	again, err := f.walk(p)
	if err != nil {
		return err
	}
	defer again.Close() //nolint:errcheck // it was only looked at
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

// back undoes a move that was done.
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

// backHere undoes a move in the folder where it was done, wherever that is by now: what is taken back must not stay there.
func (m *move) backHere(f *Folder) error {
	r := m.reversed()
	r.dir = m.dir
	defer r.discard()
	if err := r.is(f, m.path.base(), r.from.hash); err != nil {
		return err
	}
	m.discard() // the way back needs the name
	if err := r.write(f); err != nil {
		return err
	}
	return errors.Join(r.rename(f), syncFolder(r.dir))
}

// discard removes the temporary file if there is one. That nothing else stands under its name follows from the name.
func (m *move) discard() {
	if m.left && m.dir != nil {
		_ = errors.Join(m.dir.Remove(m.temp), syncFolder(m.dir)) // whatever stays is named in the journal
		m.left = false
	}
}

// release ends what prepare began. It may be called again.
func (m *move) release() {
	m.discard()
	if m.dir != nil {
		_ = m.dir.Close()
		m.dir = nil
	}
}
